// Traces, as a collector receives them over OTLP (https://opentelemetry.io/docs/specs/otlp/).
import { expect, test } from '@jest/globals'
import http from 'node:http'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
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
  scope: string
  name: string
  traceId: string
  parentSpanId?: string
}

/** The spans in what a collector got. */
const spansIn = (sent: string): Span[] =>
  sent
    .trim()
    .split('\n')
    .flatMap((body) => JSON.parse(body).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ scope: { name }, spans }) =>
      spans.map((span: Span) => ({ ...span, scope: name.replace(/.*instrumentation-/, '') })),
    )

/** The body of a large user. */
const LARGE = JSON.stringify({ name: 'x'.repeat(6_000) })

const TRACE = '0af7651916cd43dd8448eb211c80319c'

const undo = useUndo()
const at = usePlaces()

/** Starts a collector. @returns its port */
async function collector(server: net.Server): Promise<number> {
  const sockets = new Set<net.Socket>()
  server.on('connection', (socket: net.Socket) => sockets.add(socket.on('error', () => {})))
  undo.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return listen(server)
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
  [...output.stdout.matchAll(/"level":(\d+).*"msg":"(traces .*?)"}$/gm)].map(
    ([, level, text]) => `${level} ${text}`,
  )

const HEADERS = 'Bearer the-key==, x=a%0Ab'

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
  const warning = expect.stringContaining(`40 traces cannot be sent: ${reason}`)
  expect(said(service)).toEqual([warning])
  const { stdout, stderr } = service.output
  expect(stdout + stderr).not.toMatch(/the-(password|key)/)
})

describeStores((kind) => {
  /** Uses a new service. @returns all that it sends to the collector, and its log */
  async function trace(place: Place, use: (port: number) => Promise<unknown>) {
    let sent = ''
    const server = http.createServer((request, response) => {
      void text(request).then((body) => response.end('{}', () => (sent += `${body}\n`)))
    })
    const { service, port } = await serveTraced(place, await collector(server))
    await use(port)
    await service.probe('/readyz')
    expect(await service.stop()).toBe(0)
    return { sent, log: service.output.stdout }
  }

  test('a request leaves spans of HTTP, the router and MongoDB, in the trace that it came with or that begins with it', async () => {
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` }
    const place = at(kind)
    const { sent, log } = await trace(place, async (port) => {
      await send(port, 'POST /login', { headers, json: { email: 'x' } })
      await send(port, 'GET /nothing')
    })
    expect(sent).toContain('users-service')
    expect(sent).not.toContain('readyz')
    const spans = spansIn(sent)
    const traced = spans.filter(({ traceId }) => traceId === TRACE)
    expect(traced.map(({ scope, name }) => `${scope}: ${name}`).sort()).toEqual([
      'http: POST /login',
      'koa: login',
      'koa: middleware - guard',
      ...(place.MONGODB_URI ? ['mongodb: find users'] : []),
    ])
    const root = traced.find(({ scope }) => scope === 'http')!
    expect(root.parentSpanId).toBe('b7ad6b7169203331')
    const line = JSON.parse(log.split('\n').find((one) => one.includes('/nothing'))!)
    const begun = spans.filter(({ traceId }) => traceId === line.trace_id)
    expect(begun.map(({ scope }) => scope)).toContain('http')
  })

  test.each<[string, (user: User, headers: string) => string]>([
    ['GET /users/{id}', ({ id }, headers) => get(`/users/${id}`, headers)],
    ['GET /users', (_, headers) => get('/users?limit=9', headers)],
    ['POST /users of 6 KB', (_, headers) => post(LARGE, headers, '/users')],
    [
      'PUT /users/{id}',
      ({ id }, headers) => post(LARGE, headers, `/users/${id}`).replace('POST', 'PUT'),
    ],
  ])(
    'each of 32 %s at once, two on a connection, has the spans that one alone has',
    async (_, request) => {
      const place = at(kind)
      const [user] = await createAt(place, newUser())
      const idOf = (i: number) => (i + 1).toString(16).padStart(32, 'a')
      const requestOf = (i: number) =>
        request(user!, `traceparent: 00-${idOf(i)}-b7ad6b7169203331-01\r\n`)
      const { sent } = await trace(place, async (port) => {
        await exchange(port, requestOf(0) + get('/nothing', CLOSE))
        await many(16, async (i) => {
          await exchange(port, requestOf(2 * i + 1) + requestOf(2 * i + 2) + get('/nothing', CLOSE))
        })
      })
      const spans = spansIn(sent)
      /** The spans of a trace; what a batch did for several requests is in none. */
      const spansOf = (i: number, isAlone = false) =>
        spans
          .filter(({ traceId, scope }) => traceId === idOf(i) && (isAlone || scope !== 'mongodb'))
          .map(({ scope, name }) => `${scope}: ${name}`)
          .sort()
      const mongodb = (i: number) => spansOf(i, true).filter((span) => span.startsWith('mongodb'))
      expect(spansOf(0)).toHaveLength(3)
      for (let i = 1; i <= 32; i += 1) {
        expect(spansOf(i)).toEqual(spansOf(0))
        expect([[], mongodb(0)]).toContainEqual(mongodb(i))
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
      ['GET /users?email=secret%2B1@example.com', { headers: { 'user-agent': 'secret-4@x' } }],
      ['GET /users?email=secret+1@example.com'],
      ['POST /users', { json: user }],
      ['POST /users', { json: { ...user, email: 'secret-2@example.com' } }],
      ['POST /login', { json: { email: 'secret-3@example.com' } }],
      [`PUT /users/${id}`, { json: { name: 'the-name-2' } }],
      ['GET /users', { authorization: 'Bearer the-token' }],
      ['POST /login', { body: '{"secret', headers: { 'content-type': 'application/json' } }],
    ]
    const { sent, log } = await trace(place, async (port) => {
      for (const request of requests) statuses.push((await send(port, ...request)).status)
    })
    expect(statuses).toEqual([200, 200, 400, 400, 201, 401, 204, 401, 400])
    for (const text of [sent, log]) {
      expect(text).toContain(id)
      expect(text.match(/[^"]*(secret|the-name|the-token|eyJ)[^"]*/g)).toBeNull()
    }
  })
})
