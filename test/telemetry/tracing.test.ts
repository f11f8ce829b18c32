// Traces, as a collector receives them over OTLP (https://opentelemetry.io/docs/specs/otlp/).
import { afterEach, expect, test } from '@jest/globals'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { killPrograms, serve } from '../support/program.ts'
import { send } from '../support/service.ts'
import { describeStores, mongodbPlace, SECRET, sqlitePlace, type Place } from '../support/stores.ts'

interface Span {
  scope: string
  name: string
  traceId: string
  parentSpanId?: string
}

interface Traces {
  resourceSpans: {
    resource: unknown
    scopeSpans: { scope: { name: string }; spans: Span[] }[]
  }[]
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'

let place: Place
let collector: http.Server
afterEach(async () => {
  await killPrograms()
  await place.remove()
  collector.close()
})

/** Starts the service, and a collector that it sends its traces to. */
async function serveTraced(kind: () => Place, collect: http.RequestListener) {
  collector = http.createServer(collect)
  await once(collector.listen(0, '127.0.0.1'), 'listening')
  const { port } = collector.address() as AddressInfo
  place = kind()
  const service = serve(place, {
    SIGNING_SECRET: SECRET,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
  })
  return { service, port: Number(new URL(await service.listening()).port) }
}

test('a collector that never responds delays neither requests nor the stop', async () => {
  const { service, port } = await serveTraced(sqlitePlace, () => {})
  expect((await send(port, 'GET /users')).status).toBe(200)
  service.process.kill('SIGTERM')
  expect(await service.ended).toBe(0)
  collector.closeAllConnections()
})

describeStores((kind) => {
  test('a request leaves spans of HTTP, the router and MongoDB, in the trace that it came with or that begins with it', async () => {
    const collected: Traces['resourceSpans'] = []
    const receive = async (request: http.IncomingMessage, response: http.ServerResponse) => {
      collected.push(...((await json(request)) as Traces).resourceSpans)
      response.end('{}')
    }
    const { service, port } = await serveTraced(kind, (...args) => void receive(...args))
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` }
    await send(port, 'POST /login', { headers, json: { email: 'secret@example.com' } })
    await send(port, 'GET /nothing')
    await fetch(`${service.ops()}/readyz`)
    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)

    const spans = collected
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ scope, spans }) => spans.map((span) => ({ ...span, scope: scope.name })))
    expect(JSON.stringify(collected[0]!.resource)).toContain('users-service')
    const traced = spans.filter(({ traceId }) => traceId === TRACE)
    const names = traced.map(
      ({ scope, name }) => `${scope.replace(/.*instrumentation-/, '')}: ${name}`,
    )
    expect(names.sort()).toEqual([
      'http: POST /login',
      'koa: login',
      'koa: middleware - guard',
      ...(kind === mongodbPlace ? ['mongodb: find users'] : []),
    ])
    expect(traced.find(({ scope }) => scope.endsWith('http'))!.parentSpanId).toBe(
      'b7ad6b7169203331',
    )
    expect(JSON.stringify(spans)).not.toMatch(/secret|readyz/)
    const line = service.output.stdout.split('\n').find((one) => one.includes('/nothing'))!
    const begun = spans.filter(({ traceId }) => traceId === JSON.parse(line).trace_id)
    expect(begun.map(({ scope }) => scope)).toContain('@opentelemetry/instrumentation-http')
  })
})
