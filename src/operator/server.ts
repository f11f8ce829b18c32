// The port for operators: /livez, /readyz and /metrics. Never on the public port.
import type { ServerResponse } from 'node:http'
import type { HostCheck } from '../http/hosts.ts'
import { LIMITS } from '../http/limits.ts'
import { createServer, type HttpServer } from '../http/server.ts'
import { rawPath } from '../http/target.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { oneByOne } from '../turns.ts'
import type { Readiness } from './readiness.ts'

/** An HTTP server with the limits of the public one. It does not listen yet. */
export function createOperatorServer(
  readiness: Readiness,
  metrics: Metrics,
  isHere: HostCheck,
): HttpServer {
  const render = oneByOne()
  const pages = new Map<string, (response: ServerResponse) => Promise<void> | void>([
    // Does not check the store: a restart of the service would not bring the store back.
    ['/livez', (response) => say(response, 200, 'alive')],
    [
      '/readyz',
      (response) => {
        const reason = readiness.reason()
        say(response, reason === undefined ? 200 : 503, reason ?? 'ready')
      },
    ],
    [
      '/metrics',
      (response) =>
        render(async () => {
          if (response.destroyed) return // the client has left
          metrics.ready(readiness.reason() === undefined)
          const { type, text } = await metrics.expose()
          say(response, 200, text, type)
        }),
    ],
  ])
  return createServer(
    (request, response) => {
      const page = pages.get(rawPath(request.url ?? ''))
      if (!page) return say(response, 404, NOT_FOUND)
      const { method = '' } = request
      if (!['GET', 'HEAD'].includes(method)) {
        response.setHeader('Allow', 'HEAD, GET')
        return say(response, 405, `the method ${method} is not allowed: use GET or HEAD`)
      }
      Promise.resolve(page(response)).catch(() => response.destroy())
    },
    { isHere, limits: { maxConnections: LIMITS.maxOperatorConnections } },
  )
}

const NOT_FOUND = 'not found: this port has /livez, /readyz and /metrics'

function say(response: ServerResponse, status: number, text: string, type = 'text/plain'): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}
