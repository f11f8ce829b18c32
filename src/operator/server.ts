// The port for those who operate the service: /livez, /readyz and /metrics. Never on the public port.
import http, { type Server, type ServerResponse } from 'node:http'
import type { Metrics } from '../telemetry/metrics.ts'
import { rawPath } from '../http/target.ts'
import type { Readiness } from './readiness.ts'

/** An HTTP server. It does not listen yet. */
export function createOpsServer(readiness: Readiness, metrics: Metrics): Server {
  const pages: Record<string, (response: ServerResponse) => Promise<void> | void> = {
    // Alive is who answers: a store that is gone does not come back by a restart of this process.
    '/livez': (response) => say(response, 200, 'alive'),
    '/readyz'(response) {
      const reason = readiness.reason()
      say(response, reason === undefined ? 200 : 503, reason ?? 'ready')
    },
    async '/metrics'(response) {
      const { type, text } = await metrics.expose()
      say(response, 200, text, type)
    },
  }
  return http.createServer((request, response) => {
    const page = new Map(Object.entries(pages)).get(rawPath(request.url ?? ''))
    if (!page) return say(response, 404, 'there are /livez, /readyz and /metrics')
    if (!['GET', 'HEAD'].includes(request.method ?? '')) {
      response.setHeader('Allow', 'HEAD, GET')
      return say(response, 405, 'there are HEAD and GET')
    }
    Promise.resolve(page(response)).catch(() => response.destroy())
  })
}

function say(response: ServerResponse, status: number, text: string, type = 'text/plain'): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}
