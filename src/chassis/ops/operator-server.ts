// The port for operators: /livez, /readyz and /metrics. Never on the public port.
import type { ServerResponse } from 'node:http'
import { hostCheck, isLoopback } from '../http/hosts.ts'
import { LIMITS } from '../http/limits.ts'
import type { IncomingRequest } from '../http/request.ts'
import { createServer } from '../http/server.ts'
import { rawPath } from '../http/target.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import type { Readiness } from './readiness.ts'

/**
 * An HTTP server with the limits of the public one. It does not listen yet.
 *
 * @param allowedHosts counts only on loopback, because probes and Prometheus name the address of a pod
 */
export function createOperatorServer(
  readiness: Readiness,
  metrics: Metrics,
  allowedHosts: string[],
) {
  async function handle({ url = '' }: IncomingRequest, response: ServerResponse) {
    const path = rawPath(url)
    // Does not check the store: a restart of the service would not bring the store back.
    if (path === '/livez') return respond(response, 200, 'alive')
    const { isReady, state } = readiness.status()
    if (path === '/readyz') return respond(response, isReady ? 200 : 503, state)
    if (path !== '/metrics') return respond(response, 404, NOT_FOUND)
    metrics.ready(isReady)
    const { type, text } = await metrics.expose()
    respond(response, 200, text, type)
  }

  return createServer(handle, {
    hostCheck: (bound) => hostCheck(bound, isLoopback(bound) ? allowedHosts : []),
    limits: { maxConnections: LIMITS.maxOperatorConnections },
  })
}

const NOT_FOUND = 'not found: this port has /livez, /readyz and /metrics'

function respond(response: ServerResponse, status: number, text: string, type = 'text/plain') {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}
