// Traces, as a collector receives them over OTLP (https://opentelemetry.io/docs/specs/otlp/).
import { afterEach, expect, test } from '@jest/globals'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { killPrograms, serve, type Program } from './support/program.ts'
import { send, tokens } from './support/service.ts'
import { describeStores, SECRET, type Place } from './support/stores.ts'

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

  test('a collector that never answers holds up neither requests nor the end', async () => {
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

  test('a request leaves spans of HTTP, the router and MongoDB, in the trace that it came with', async () => {
    const spans: Span[] = []
    let resource = ''
    const receive = async (request: http.IncomingMessage, response: http.ServerResponse) => {
      const { resourceSpans } = (await json(request)) as Traces
      for (const { resource: of, scopeSpans } of resourceSpans) {
        resource = JSON.stringify(of)
        for (const { scope, spans: some } of scopeSpans) {
          for (const span of some) spans.push({ ...span, scope: scope.name })
        }
      }
      response.end('{}')
    }
    const service = await serveTraced((request, response) => void receive(request, response))
    const url = await service.listening()
    const headers = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` }
    const request = { headers, json: { email: 'secret@example.com' } }
    await send(Number(new URL(url).port), 'POST /login', request)
    await fetch(`${service.ops()}/readyz`)
    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)

    expect(resource).toContain('users-service')
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
