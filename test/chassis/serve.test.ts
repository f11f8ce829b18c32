// The process: its start and its stop. (Which traces are sent: tracing.long.ts.)
import { afterEach, expect, test } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import { newFolder } from '../support/readme.ts'
import { until } from './support/clients.ts'

const folder = newFolder()
const processes: ChildProcess[] = []
afterEach(() => processes.splice(0).forEach((child) => void child.kill('SIGKILL')))

const MAIN = `
  import { setTimeout as sleep } from 'node:timers/promises'
  import { loadContract, serve, start } from '${new URL('../../dist/src/chassis/index.js', import.meta.url).href}'
  const contract = loadContract(new URL('${new URL('support/notes.yaml', import.meta.url).href}'))
  const handlers = Object.fromEntries(contract.contents().operations.map(({ id }) => [id, () => void eval(process.env.MISTAKE)]))
  const hang = () => new Promise(() => {})
  const ask = async (name) => process.env.HANG === name && hang(console.error(name))
  const oldest = async () => {
    if (process.env.LATER) void Promise.reject(new Error(process.env.LATER))
    return Promise.reject(await ask('oldest'))
  }
  const closing = () => process.env.HANG && (process.env.HANG === 'guard' ? sleep(20) : hang())
  const close = () => (process.env.MISTAKE ? JSON.parse('') : closing())
  const store = { description: 'nothing', oldest, close }
  const open = async (config, { log }) => {
    if (process.env.REASON === 'undefined') throw undefined
    if (process.env.REASON === 'nothing') return
    if (process.env.REASON) throw new Error(process.env.REASON)
    if (process.env.FORGOTTEN) void Promise.reject(new Error(process.env.FORGOTTEN))
    await ask('open')
    if (process.env.FORGOTTEN) await hang()
    const { info } = log
    info('STOP_TIMEOUT ' + config.STOP_TIMEOUT)
    return { guard: async (ctx, next) => (await ask('guard')) || next(), handlers, store }
  }
  const variables = () => {
    if (process.env.EARLY) process.emit('uncaughtException', new Error(process.env.EARLY))
    return {}
  }
  const service = { contract, open, get variables() { return variables() } }
`

/** A process that serves notes, and what it prints. */
function start(variables: Record<string, string>, program = 'await serve(service)') {
  const env = { PATH: process.env['PATH'], PORT: '0', OPS_PORT: '0', ...variables }
  const child = spawn(process.execPath, ['--input-type=module', '-e', MAIN + program], {
    cwd: folder,
    env,
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (text: Buffer) => (output.stdout += text))
  child.stderr.on('data', (text: Buffer) => (output.stderr += text))
  processes.push(child)
  /** Resolves to what follows `text` in the output, once it is there. */
  const printed = async (text: string) => {
    const pattern = RegExp(`${text}([^"]*)`)
    await until(() => pattern.test(output.stdout))
    return pattern.exec(output.stdout)![1]!
  }
  return { child, output, printed }
}

test.each([
  [{ PORT: 'x' }, /^PORT must be .*\n$/],
  [{ REASON: 'it has no key' }, /^it has no key\n$/],
  [{ REASON: 'undefined' }, /^the start failed without a message: undefined\n$/],
  [{ REASON: 'nothing' }, /^`open` must return a guard, handlers and a store\n$/],
  [{ EARLY: 'nobody awaits it' }, /^nobody awaits it\n$/],
  [{ FORGOTTEN: 'not migrated' }, /^not migrated\n$/],
])(
  'a service that cannot start exits with 1 and one line, also in the log if it is open: %j',
  async (variables, line) => {
    const { child, output } = start(variables)
    expect(await once(child, 'close')).toEqual([1, null])
    expect(output.stderr).toMatch(line)
    const isLogged = /^{"level":"error",.*"the service ends"}$/m.test(output.stdout)
    expect(isLogged).toBe('REASON' in variables)
  },
)

test.each([
  'Promise.reject()',
  'setTimeout(() => { throw new Error("x") })',
  'process.nextTick(() => { throw undefined })',
])(
  'a mistake that no request waits for is a line, and the service goes on: %s',
  async (MISTAKE) => {
    const { child, printed } = start({ MISTAKE })
    const url = await printed('listening on ')
    for (let i = 0; i < 2; i += 1) {
      expect((await fetch(`${url}/notes`)).status).toBe(500) // the handler returns nothing
      await printed('"level":(?:50|"error")[^}]*}[^}]*an error that nobody has caught')
    }
    child.kill()
    expect(await once(child, 'close')).toEqual([0, null])
    await printed('closing the store failed') // it throws at once
  },
)

test('a mistake while the service is open, and has not checked its store, does not end it', async () => {
  const { child, printed } = start({ LATER: 'nobody awaits it' })
  await printed('an error that nobody has caught')
  await printed('listening on ')
  child.kill()
  expect(await once(child, 'close')).toEqual([0, null])
})

const LATE = 'STOP_TIMEOUT is over: the store was not closed, or traces were not sent'
const CUT_OFF = 'STOP_TIMEOUT is over: requests in flight were cut off'
test.each([
  ['open', 'SIGTERM: stopped before the service was open'],
  ['oldest', 'SIGTERM while starting: finishing the requests in flight', LATE, 'stopped'],
  ['guard', 'response aborted', CUT_OFF, 'stopped'],
])(
  'SIGTERM ends a service that hangs in `%s`; a store has time to close',
  async (asked, ...said) => {
    const { child, output, printed } = start({ HANG: asked, STOP_TIMEOUT: '1s' })
    if (asked === 'guard') fetch(`${await printed('listening on ')}/notes`).catch(() => {})
    await once(child.stderr, 'data')
    child.kill()
    expect(await once(child, 'close')).toEqual([0, null])
    const messages = [...output.stdout.matchAll(/"msg":"(.*?)"}$/gm)].map(([, text]) => text)
    expect(messages.slice(-said.length)).toEqual(said)
  },
)

/** What Node says of a socket for IPv6 where the kernel has none. */
const NO_IPV6 = "data:text/javascript,process.binding('tcp_wrap').TCP.prototype.bind6 = () => -97"

test.each([
  ['::', '', '[::]', '[::]'],
  ['::', NO_IPV6, '0.0.0.0', '0.0.0.0'],
  ['127.0.0.1', NO_IPV6, '127.0.0.1', '0.0.0.0'],
])('HOST=%s %s listens on %s, and OPS_HOST=0::0 on %s', async (HOST, without, host, operators) => {
  const NODE_OPTIONS = without && `--no-deprecation --import="${without}"`
  const { printed } = start({ HOST, OPS_HOST: '0::0', NODE_OPTIONS })
  expect(new URL(await printed('metrics are on ')).hostname).toBe(operators)
  const url = new URL(await printed('listening on '))
  expect(url.hostname).toBe(host)
  expect((await fetch(`http://127.0.0.1:${url.port}/nothing`)).status).toBe(404)
})

test.each([
  ['0.0.0.0', { '10.0.0.7:9090': 200, 'users.example.com': 200 }],
  ['127.0.0.1', { '10.0.0.7:9090': 421, localhost: 200 }],
])('on %s ALLOWED_HOSTS shuts no probe out of the port for operators', async (HOST, hosts) => {
  const { printed } = start({ HOST, ALLOWED_HOSTS: 'users.example.com' })
  const operators = await printed('metrics are on ')
  for (const [host, status] of Object.entries(hosts)) {
    const request = http.get(`${operators}/livez`, { headers: { host } })
    const [{ statusCode }] = await once(request, 'response')
    expect([host, statusCode]).toEqual([host, status])
  }
})

test('a store that fails is not called empty in /metrics; from the signal on, the service is not ready and each response is the last of its connection', async () => {
  const { child, printed } = start({ STOP_DELAY: '1h', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all' })
  const operators = await printed('metrics are on ')
  expect(await printed('STOP_TIMEOUT ')).toBe('8000') // by default
  const url = await printed('listening on ')
  const ask = () => fetch(`${url}/nothing`)
  expect((await ask()).headers.get('connection')).toBe('keep-alive')
  expect(await (await fetch(`${operators}/metrics`)).text()).toMatch(
    /^store_oldest_record\S+ NaN$/im,
  )
  expect(await printed('"trace_id":"')).toMatch(/^[0-9a-f]{32}$/) // of the trace that begins here
  child.kill('SIGTERM')
  await printed('finishing')
  expect((await ask()).headers.get('connection')).toBe('close')
  expect(await (await fetch(`${operators}/readyz`)).text()).toMatch(/^stopping/)
})

test('a process ends by itself, without a warning, after the services that it has started', async () => {
  const failing = `await start(service, { HOST: '192.0.2.1' }).catch(() => {})`
  const program = `const quiet = { LOG_LEVEL: 'silent' }; for (let i = 0; i < 12; i += 1) await (await start(service, quiet)).stop(); ${failing}`
  const { child, output } = start({}, program)
  expect([await once(child, 'close'), output]).toEqual([[0, null], { stdout: '', stderr: '' }])
})
