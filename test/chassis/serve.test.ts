// The process: a stop while its store hangs, and where traces go. (What is sent: tracing.long.ts.)
import { expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { newFolder } from '../support/readme.ts'
import { tracesEndpoint } from '../../src/chassis/serve.ts'

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://all'
test.each<[NodeJS.ProcessEnv, string | undefined]>([
  [{}, 'http://all'],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces' }, 'http://traces'],
  [{ OTEL_SDK_DISABLED: 'TRUE' }, ''],
  [{ OTEL_SDK_DISABLED: 'no' }, 'http://all'],
  [{ OTEL_TRACES_EXPORTER: 'none' }, ''],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http://all'],
  [{ OTEL_TRACES_EXPORTER: 'console, OTLP' }, 'http://all'],
  [{ OTEL_TRACES_EXPORTER: 'http://all' }, undefined],
  [{ OTEL_TRACES_EXPORTER: 'console,none' }, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, ''],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:$PORT' }, undefined],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://' }, undefined],
])('with %j, traces go to "%s", where undefined gets a warning', (env, endpoint) => {
  expect(tracesEndpoint({ OTEL_EXPORTER_OTLP_ENDPOINT, ...env })).toBe(endpoint)
})

const DOOR = new URL('../../dist/src/chassis/index.js', import.meta.url)
const NOTES = new URL('support/notes.yaml', import.meta.url)
/** A service of notes whose store hangs in `asked`, and when it is closed. */
const hangingIn = (asked: 'open' | 'oldest') => `
  import { loadContract, serve } from '${DOOR.href}'
  const hang = () => new Promise(() => {})
  const ask = (name) => name === '${asked}' && hang(console.error(name))
  const store = { description: 'memory', oldest: () => ask('oldest'), close: hang }
  const operations = ['listNotes', 'addNote', 'readNote', 'changeNote', 'removeNote']
  const handlers = Object.fromEntries(operations.map((name) => [name, hang]))
  await serve({
    contract: loadContract(new URL('${NOTES.href}')),
    variables: {},
    open: async () => (await ask('open')) || { guard: hang, handlers, store },
  })`

test.each([
  ['open', ['SIGTERM: stopped before the service was open']],
  [
    'oldest',
    [
      'SIGTERM while starting: finishing the requests in flight',
      'STOP_TIMEOUT is over: the store was not closed, or traces were not sent',
      'stopped',
    ],
  ],
] as const)('SIGTERM ends a service whose store hangs in `%s`', async (asked, said) => {
  const args = ['--input-type=module', '--eval', hangingIn(asked)]
  const env = { PATH: process.env['PATH'], PORT: '0', OPS_PORT: '0', STOP_TIMEOUT: '1s' }
  const service = spawn(process.execPath, args, { env, stdio: 'pipe', cwd: newFolder() })
  const printed = text(service.stdout)
  await once(service.stderr, 'data')
  service.kill()
  expect(await once(service, 'close')).toEqual([0, null])
  const lines = (await printed).trim().split('\n')
  const messages = lines.map((line) => JSON.parse(line).msg)
  expect(messages.slice(-said.length)).toEqual(said)
})
