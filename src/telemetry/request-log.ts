// The request log: an id, a line and metrics for each request. Never a token, a body or a query.
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type Koa from 'koa'
import type { Failure } from '../http/failure.ts'
import type { Request } from '../http/request.ts'
import type { Observer } from '../http/server.ts'
import { rawPath } from '../http/target.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'

export interface RequestLog extends Observer {
  /** The service failed to serve a request. */
  failure: (failure: Failure, ctx?: Koa.Context) => void
}

export function createRequestLog({ log, metrics }: Destinations): RequestLog {
  function ended(request: Request, response: ServerResponse): void {
    const { id, trace, method = '', operation, refused, userId, began } = request
    const status = response.headersSent ? response.statusCode : undefined
    const ms = Math.round((performance.now() - began) * 1000) / 1000
    const labels = { operation: operation ?? 'none', method, status: String(status ?? 'none') }
    metrics.requestEnded(labels, ms / 1000)
    if (refused) metrics.refused(refused)
    const path = rawPath(request.url ?? '')
    const location = response.getHeader('Location') // of a user that was created
    const line = { id, trace_id: trace, user: userId, method, path, location, status, refused, ms }
    if (!response.writableFinished) log.warn(line, 'response aborted')
    else if (response.statusCode >= 500) log.error(line, 'request')
    else log.info(line, 'request')
  }

  return {
    ended,
    begun(request, response) {
      request.began = performance.now()
      metrics.requestBegun()
      request.id = idOf(request) ?? randomUUID()
      request.trace ??= traceOf(request)
      response.setHeader('X-Request-Id', request.id)
      response.setHeader('X-Content-Type-Options', 'nosniff')
    },
    noRequest({ status }, id, code) {
      log.warn({ id, status, code }, 'refused what is not a valid request')
    },
    failure({ message, cause }, ctx) {
      const { id, trace } = (ctx?.req ?? {}) as Partial<Request>
      log.error({ id, trace_id: trace, err: cause }, message)
    },
  }
}

interface Destinations {
  log: Logger
  metrics: Metrics
}

const SAFE_ID = /^[\w.:/+=@-]{1,128}$/ // no character that needs escaping anywhere

/** The id that the client or a proxy gave the request. */
function idOf({ headers }: Request): string | undefined {
  const id = headers['x-request-id']
  return typeof id === 'string' && SAFE_ID.test(id) ? id : undefined
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}/

/** The trace that the client names (W3C Trace Context §3.2). */
function traceOf({ headers }: Request): string | undefined {
  const { traceparent } = headers
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined
}
