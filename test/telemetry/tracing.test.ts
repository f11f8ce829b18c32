// Traces, as a collector receives them over OTLP (https://opentelemetry.io/docs/specs/otlp/).
import { expect, test } from '@jest/globals'
import http from 'node:http'
import { text } from 'node:stream/consumers'
import { serve, useUndo } from '../support/program.ts'
import { listen, send, type Request } from '../support/service.ts'
import type { Place } from '../support/stores.ts'
import { createAt, describeStores, SECRET, sqlitePlace, usePlaces } from '../support/stores.ts'
import { newUser } from '../support/users.ts'

interface Span {
  scope: string
  name: string
  traceId: string
  parentSpanId?: string
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'

const undo = useUndo()
const at = usePlaces()

/** Starts the service, and a collector that it sends its traces to. */
async function serveTraced(place: Place, collect: http.RequestListener) {
  const collector = http.createServer(collect)
  undo.push(() => collector.close().closeAllConnections())
  const service = serve(place, {
    SIGNING_SECRET: SECRET,
    LOG_LEVEL: 'debug',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await listen(collector)}`,
  })
  return { service, port: Number(new URL(await service.listening()).port) }
}

test('a collector that never responds delays neither requests nor the stop', async () => {
  const { service, port } = await serveTraced(at(sqlitePlace), () => {})
  expect((await send(port, 'GET /users')).status).toBe(200)
  service.process.kill('SIGTERM')
  expect(await service.ended).toBe(0)
})

describeStores((kind) => {
  /** Sends requests to a new service. @returns all that it sends to the collector, and its log */
  async function trace(place: Place, ...requests: [line: string, request?: Request][]) {
    let sent = ''
    const { service, port } = await serveTraced(place, (request, response) => {
      void text(request).then((body) => response.end('{}', () => (sent += `${body}\n`)))
    })
    const statuses = []
    for (const request of requests) statuses.push((await send(port, ...request)).status)
    await service.probe('/readyz')
    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    return { statuses, sent, log: service.output.stdout }
  }

  test('a request leaves spans of HTTP, the router and MongoDB, in the trace that it came with or that begins with it', async () => {
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` }
    const logIn: [string, Request] = ['POST /login', { headers, json: { email: 'x' } }]
    const place = at(kind)
    const { sent, log } = await trace(place, logIn, ['GET /nothing'])
    expect(sent).toContain('users-service')
    expect(sent).not.toContain('readyz')
    const spans: Span[] = sent
      .trim()
      .split('\n')
      .flatMap((body) => JSON.parse(body).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ scope: { name }, spans }) =>
        spans.map((span: Span) => ({ ...span, scope: name.replace(/.*instrumentation-/, '') })),
      )
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

  test('no email, name or token leaves through traces or the log', async () => {
    const place = at(kind)
    const user = newUser({ name: 'the-name', email: 'secret+1@example.com' })
    const { id } = (await createAt(place, user))[0]!
    const { statuses, sent, log } = await trace(
      place,
      ['POST /login', { json: { email: user.email } }],
      ['GET /users?email=secret%2B1@example.com'],
      ['GET /users?email=secret+1@example.com'],
      ['POST /users', { json: user }],
      ['POST /users', { json: { ...user, email: 'secret-2@example.com' } }],
      ['POST /login', { json: { email: 'secret-3@example.com' } }],
      [`PUT /users/${id}`, { json: { name: 'the-name-2' } }],
      ['GET /users', { authorization: 'Bearer the-token' }],
      ['POST /login', { body: '{"secret', headers: { 'content-type': 'application/json' } }],
    )
    expect(statuses).toEqual([200, 200, 400, 400, 201, 401, 204, 401, 400])
    for (const text of [sent, log]) {
      expect(text).toContain(id)
      expect(text.match(/[^"]*(secret|the-name|the-token|eyJ)[^"]*/g)).toBeNull()
    }
  })
})
