// Traces, as a collector receives them over OTLP (https://opentelemetry.io/docs/specs/otlp/).
import { afterEach, expect, test } from '@jest/globals'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { killPrograms, serve, type Program } from '../support/program.ts'
import { send, tokens } from '../support/service.ts'
import { describeStores, SECRET, type Place } from '../support/stores.ts'

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

describeStores((kind) => {
  let place: Place
  let collector: http.Server
  afterEach(async () => {
    await killPrograms()
    await place.remove()
    collector.close()
  })

  /** Starts the service, and a collector that it sends its traces to. */
  async function serveTraced(collect: http.RequestListener): Promise<Program> {
    collector = http.createServer(collect)
    await once(collector.listen(0, '127.0.0.1'), 'listening')
    const { port } = collector.address() as AddressInfo
    place = kind()
    return serve(place, {
      SIGNING_SECRET: SECRET,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    })
  }

  test('a collector that never responds delays neither requests nor the stop', async () => {
    const service = await serveTraced(() => {})
    const url = await service.listening()
    const authorization = `Bearer ${tokens.issue('x')}`
    expect((await send(Number(new URL(url).port), 'GET /users', { authorization })).status).toBe(
      200,
    )
    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    collector.closeAllConnections()
  })

  /** Starts the service, and a collector of what it sends. */
  async function serveCollected(): Promise<{
    service: Program
    collected: Traces['resourceSpans']
  }> {
    const collected: Traces['resourceSpans'] = []
    const receive = async (request: http.IncomingMessage, response: http.ServerResponse) => {
      collected.push(...((await json(request)) as Traces).resourceSpans)
      response.end('{}')
    }
    const service = await serveTraced((request, response) => void receive(request, response))
    return { service, collected }
  }

  const spansOf = (collected: Traces['resourceSpans']): Span[] =>
    collected
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ scope, spans }) => spans.map((span) => ({ ...span, scope: scope.name })))

  test('the trace that begins with a request is in its line', async () => {
    const { service, collected } = await serveCollected()
    await send(Number(new URL(await service.listening()).port), 'GET /nothing')
    service.process.kill('SIGTERM')
    await service.ended
    const line = service.output.stdout.split('\n').find((one) => one.includes('/nothing'))!
    expect(spansOf(collected).map(({ traceId }) => traceId)).toContain(JSON.parse(line).trace_id)
  })

  test('a request leaves spans of HTTP, the router and MongoDB, in the trace that it came with', async () => {
    const { service, collected } = await serveCollected()
    const url = await service.listening()
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` }
    const request = { headers, json: { email: 'secret@example.com' } }
    await send(Number(new URL(url).port), 'POST /login', request)
    await fetch(`${service.ops()}/readyz`)
    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)

    const spans = spansOf(collected)
    expect(JSON.stringify(collected[0]!.resource)).toContain('users-service')
    const traced = spans.filter(({ traceId }) => traceId === TRACE)
    const names = traced.map(
      ({ scope, name }) => `${scope.replace(/.*instrumentation-/, '')}: ${name}`,
    )
    expect(names.sort()).toEqual([
      'http: POST /login',
      'koa: login',
      'koa: middleware - guard',
      ...(place.mongodbUri ? ['mongodb: find users'] : []),
    ])
    expect(traced.find(({ scope }) => scope.endsWith('http'))!.parentSpanId).toBe(
      'b7ad6b7169203331',
    )
    expect(JSON.stringify(spans)).not.toMatch(/secret|readyz/)
  })
})
