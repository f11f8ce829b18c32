// Traces, as a collector receives them over OTLP (https://opentelemetry.io/docs/specs/otlp/). (What a span says:
// chassis/telemetry/spans.test.ts.)
import { expect, test } from '@jest/globals'
import http from 'node:http'
import { createRequire } from 'node:module'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { freePort, serve, useUndo, type Program } from './support/program.ts'
import { exchange, listen, type Request } from './chassis/support/app.ts'
import { many } from './chassis/support/clients.ts'
import { CLOSE, get, post } from './chassis/support/requests.ts'
import { send } from './support/service.ts'
import type { Place } from './support/stores.ts'
import { createAt, describeStores, SECRET, sqlitePlace, usePlaces } from './support/stores.ts'
import { newUser } from './support/users.ts'
import type { User } from '../src/store/user-store.ts'

interface Span {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
}

/** The spans in what a collector got. */
const spansIn = (sent: string): Span[] =>
  sent
    .split('\n')
    .filter(Boolean)
    .flatMap((body) => JSON.parse(body).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans)

/** The body of a large user. */
const LARGE = JSON.stringify({ name: 'x'.repeat(6_000) })

/** Headers, each with a value that no span may have. */
const MARKED = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'secret=secret',
  ...Object.fromEntries(
    `host user-agent referer cookie origin via from forwarded x-forwarded-for x-forwarded-host
    x-forwarded-proto x-forwarded-prefix x-real-ip x-original-url baggage b3 accept-language`
      .split(/\s+/)
      .map((name) => [name, `secret-${name}`]),
  ),
}

const undo = useUndo()
const at = usePlaces()

/** Starts a collector. @returns its port */
async function collector(server: net.Server, to = 0): Promise<number> {
  server.on('connection', (socket: net.Socket) => socket.on('error', () => {}))
  undo.push(() => server.close())
  return listen(server, to)
}

/** Starts a collector that keeps what it gets. */
async function recorder(to?: number) {
  const got = { text: '' }
  const server = http.createServer((request, response) => {
    void text(request).then((body) => response.end('{}', () => (got.text += `${body}\n`)))
  })
  return { got, to: await collector(server, to) }
}

/** Starts the service, which sends its traces to the collector at the port `to`, and soon. */
async function serveTraced(place: Place, to: number, env: Record<string, string> = {}) {
  const service = serve(place, {
    SIGNING_SECRET: SECRET,
    LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${to}`,
    OTEL_BSP_SCHEDULE_DELAY: '10',
    ...env,
  })
  return { service, port: Number(new URL(await service.listening()).port) }
}

/** What the log says of the collector: the level and the message. */
const said = ({ output }: Program): string[] =>
  [...output.stdout.matchAll(/"level":"(\w+)".*"msg":"(traces.*?)"}$/gm)].map(
    ([, level, text]) => `${level} ${text}`,
  )

const HEADERS = 'k=the-key==, x=a%0Ab'

test.each<[string, net.Server | undefined, string, Record<string, string>]>([
  ['that never responds', net.createServer(), 'Request timed out', {}],
  ['that is not there', undefined, 'ECONNREFUSED', {}],
  ['with a wrong header', undefined, 'ERR_INVALID_', { OTEL_EXPORTER_OTLP_HEADERS: HEADERS }],
])('a collector %s is one warning, and the stop is clean', async (_, server, reason, more) => {
  const to = server ? await collector(server) : await freePort()
  const { service, port } = await serveTraced(at(sqlitePlace), to, {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://me:the-password@127.0.0.1:${to}`,
    OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
    OTEL_BSP_EXPORT_TIMEOUT: '2200',
    ...more,
  })
  await send(port, 'GET /users')
  while (said(service).length === 0) await sleep(10)
  for (let i = 0; i < 3; i += 1) await send(port, 'GET /users').then(() => sleep(100))
  expect(await service.stop()).toBe(0)
  const warning = expect.stringContaining(`warn traces cannot be sent: ${reason}`)
  expect(said(service)).toEqual([warning])
  const { stdout, stderr } = service.output
  expect(stdout + stderr).not.toMatch(/the-(password|key)/)
})

test('a collector that comes back gets the spans of requests from then on', async () => {
  const to = await freePort()
  const { service, port } = await serveTraced(at(sqlitePlace), to)
  await send(port, 'GET /users')
  while (said(service).length === 0) await sleep(10)
  const { got } = await recorder(to)
  await send(port, 'GET /nothing')
  while (!got.text) await sleep(10)
  expect(got.text).toContain('path_not_found')
})

test('spans that a collector refuses are one warning, with its first reason', async () => {
  let count = 0
  const server = http.createServer((request, response) => {
    const errorMessage = `too old ${(count += 1)}`
    const answer = JSON.stringify({ partialSuccess: { rejectedSpans: 1, errorMessage } })
    request.resume().on('end', () => response.end(answer))
  })
  const { service, port } = await serveTraced(at(sqlitePlace), await collector(server))
  for (let sent = 0; sent < 3; sent = count) await send(port, 'GET /nothing').then(() => sleep(50))
  expect(await service.stop()).toBe(0)
  const reason = 'warn traces: the collector has refused some spans: '
  expect(said(service)).toEqual([expect.stringContaining(reason)])
  expect(said(service)[0]).toMatch(/too old 1\b/)
})

test('responses of a collector that are no JSON are one warning, without their text', async () => {
  let count = 0
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => response.end(`x${(count += 1)}y`))
  })
  const { service, port } = await serveTraced(at(sqlitePlace), await collector(server))
  for (let sent = 0; sent < 3; sent = count) await send(port, 'GET /nothing').then(() => sleep(50))
  expect(await service.stop()).toBe(0)
  expect(said(service)).toEqual(['warn traces: Failed to parse trace export response'])
})

test('another SDK that starts later is one warning', async () => {
  const { to } = await recorder()
  const start = OTHER_SDK.replaceAll(/import (.*?) from ('.*?')/g, 'const $1 = await import($2)')
  // When the service's own has registered.
  const later = `const timer = setInterval(async () => {
    if (!globalThis[Symbol.for('opentelemetry.js.api.1')]?.trace) return
    clearInterval(timer)
    ${start}
  })`
  const { service, port } = await serveTraced(at(sqlitePlace), to, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(later)}`,
  })
  while (said(service).length === 0) await send(port, 'GET /nothing').then(() => sleep(50))
  expect(await service.stop()).toBe(0)
  const warning =
    'warn traces: another OpenTelemetry SDK is in this process: spans of both may go to one collector'
  expect(said(service)).toEqual([warning])
})

test.each([
  ['false', ['warn traces: OTEL_TRACES_EXPORTER is ignored without OTEL_EXPORTER_OTLP_ENDPOINT']],
  ['True', []],
])(
  'OTEL_TRACES_EXPORTER without an endpoint is a warning unless traces are turned off: OTEL_SDK_DISABLED=%s',
  async (OTEL_SDK_DISABLED, warnings) => {
    const env = { SIGNING_SECRET: SECRET, OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED }
    const service = serve(at(sqlitePlace), env)
    await service.listening()
    expect(await service.stop()).toBe(0)
    expect(said(service)).toEqual(warnings)
  },
)

const resolved = (name: string) =>
  pathToFileURL(createRequire(import.meta.url).resolve(`@opentelemetry/${name}`)).href
const OTHER_SDK = `import { trace } from '${resolved('api')}'
  import { BasicTracerProvider } from '${resolved('sdk-trace-base')}'
  trace.setGlobalTracerProvider(new BasicTracerProvider())`

test.each<[string, Record<string, string>, string[], boolean]>([
  ['OTEL_SDK_DISABLED turns them off', { OTEL_SDK_DISABLED: 'True' }, [], false],
  ['OTEL_TRACES_EXPORTER turns them off', { OTEL_TRACES_EXPORTER: 'none' }, [], false],
  ['a sampler chooses', { OTEL_TRACES_SAMPLER: 'always_off' }, [], false],
  [
    'what the service does not do is a warning each',
    {
      OTEL_SDK_DISABLED: 'yes',
      OTEL_TRACES_EXPORTER: 'console',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_PROPAGATORS: 'b3',
      OTEL_TRACES_SAMPLER: 'x',
      OTEL_SERVICE_NAME: 'mine',
      OTEL_RESOURCE_ATTRIBUTES: 'a=b,c',
    },
    [
      'OTEL_SDK_DISABLED=yes is ignored: it must be true or false',
      'OTEL_TRACES_EXPORTER=console is ignored: it must be otlp or none',
      'OTEL_EXPORTER_OTLP_PROTOCOL=grpc is ignored: it must be http/json',
      'OTEL_TRACES_SAMPLER=x is ignored: it must be always_on or ',
      'OTEL_PROPAGATORS=b3 is ignored: it must be tracecontext',
      'OTEL_RESOURCE_ATTRIBUTES is ignored: ',
    ],
    true,
  ],
  [
    'another SDK in the process is a warning',
    { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(OTHER_SDK)}` },
    ['another OpenTelemetry SDK was started in this process'],
    false,
  ],
])('traces follow the variables of OpenTelemetry: %s', async (_, env, warnings, isSent) => {
  const { got, to } = await recorder()
  const { service, port } = await serveTraced(at(sqlitePlace), to, {
    OTEL_EXPORTER_OTLP_ENDPOINT: '',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `http://127.0.0.1:${to}/`,
    ...env,
  })
  await send(port, 'GET /nothing')
  expect(await service.stop()).toBe(0)
  expect(said(service)).toEqual(
    warnings.map((text) => expect.stringContaining(`warn traces: ${text}`)),
  )
  expect(spansIn(got.text)).toHaveLength(Number(isSent))
  expect(got.text.includes('"service.name","value":{"stringValue":"mine"')).toBe(isSent)
})

describeStores((kind) => {
  /** Uses a new service. @returns all that it sends to the collector, and its log */
  async function trace(place: Place, use: (port: number) => Promise<unknown>) {
    const { got, to } = await recorder()
    const { service, port } = await serveTraced(place, to, { HOST: '0.0.0.0' })
    await use(port)
    await service.probe('/readyz')
    expect(await service.stop()).toBe(0)
    return { sent: got.text, log: service.output.stdout }
  }

  test.each<[string, string, (user: User, headers: string) => string]>([
    ['GET /users/{id}', 'find', ({ id }, headers) => get(`/users/${id}`, headers)],
    ['GET /users', 'list', (_, headers) => get('/users?limit=9', headers)],
    ['POST /users', 'create', (_, headers) => post(LARGE, headers, '/users')],
    [
      'PUT /users/{id}',
      'rename',
      ({ id }, headers) => post(LARGE, headers, `/users/${id}`).replace('POST', 'PUT'),
    ],
  ])(
    'each of 32 %s at once, eight on a connection, has its own spans, in the trace that it came with',
    async (name, call, request) => {
      const place = at(kind)
      const [user] = await createAt(place, newUser())
      const idOf = (i: number) => (i + 1).toString(16).padStart(32, 'a')
      const requestOf = (i: number) =>
        request(user!, `traceparent: 00-${idOf(i)}-b7ad6b7169203331-01\r\n`)
      const { sent } = await trace(place, (port) =>
        many(4, (i) => {
          const requests = Array.from({ length: 8 }, (_, j) => requestOf(8 * i + j))
          return exchange(port, requests.join('') + get('/nothing', CLOSE))
        }),
      )
      const spans = spansIn(sent)
      expect(spans).toHaveLength(64 + 4)
      for (let i = 0; i < 32; i += 1) {
        const [child, root] = spans.filter(({ traceId }) => traceId === idOf(i))
        expect(root?.parentSpanId).toBe('b7ad6b7169203331')
        expect(child?.parentSpanId).toBe(root!.spanId)
        expect([root!.name, child!.name]).toEqual([name, call])
      }
    },
  )

  // SECURITY.md: The service reveals nothing.
  test('no email, name or token leaves through traces or the log', async () => {
    const place = at(kind)
    const user = newUser({ name: 'the-name', email: 'secret+1@example.com' })
    const { id } = (await createAt(place, user))[0]!
    const statuses: number[] = []
    const requests: [string, Request?][] = [
      ['POST /login', { json: { email: user.email } }],
      ['GET /users?email=secret%2B1@example.com'],
      ['GET /users?email=secret+1@example.com'],
      ['GET /users/secret-id'],
      ['GET /secret'],
      ['POST /users', { json: user }],
      ['POST /users', { json: { ...user, email: 'secret-2@example.com' } }],
      ['POST /login', { json: { email: 'secret-3@example.com' } }],
      [`PUT /users/${id}`, { json: { name: 'the-name-2' } }],
      ['GET /users', { authorization: 'Bearer the-token' }],
      ['POST /login', { body: '{"secret', headers: { 'content-type': 'application/json' } }],
    ]
    const { sent, log } = await trace(place, async (port) => {
      for (const [line, request] of requests) {
        const headers = { ...MARKED, ...request?.headers }
        statuses.push((await send(port, line, { ...request, headers })).status)
      }
    })
    expect(statuses).toEqual([200, 200, 400, 404, 404, 400, 201, 401, 204, 401, 400])
    expect(spansIn(sent).length).toBeGreaterThan(requests.length)
    for (const text of [sent, log]) {
      expect(text).toContain(id)
      expect(text.match(/[^"]*(secret|the-name|the-token|eyJ)[^"]*/g)).toBeNull()
    }
  })
})
