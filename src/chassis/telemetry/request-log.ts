// The request log: an id, a line and metrics for each request. Never a token, a body or a query.
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Context } from '../http/context.ts'
import type { HttpError } from '../http/http-error.ts'
import type { IncomingRequest } from '../http/request.ts'
import type { OutgoingResponse } from '../http/response.ts'
import { StoreFailure } from '../failure.ts'
import { messageOf, type Logger } from './log.ts'
import type { Metrics } from './metrics.ts'

interface Options {
  log: Logger
  metrics: Metrics
  /** What may be shown of a path. */
  redactPath: (url: string) => string
}

export type RequestLog = ReturnType<typeof createRequestLog>

/** Writes to the log and the metrics. */
export function createRequestLog({ log, metrics, redactPath }: Options) {
  function onResponse(
    request: IncomingRequest,
    response: OutgoingResponse,
    startTime: number,
  ): void {
    const { method = '' } = request
    const { remoteAddress, destroyed } = request.socket
    const { id, trace_id, operation = 'none', refused, code, cause, aborted, ...own } = request.log
    const reason = destroyed && !response.earlyEnd ? (aborted ?? 'left') : undefined
    const status = response.headersSent ? response.statusCode : undefined
    const bytes = response.headersSent ? response.bodyBytes : undefined
    const now = performance.now()
    const ms = Math.round((now - startTime) * 1000) / 1000 // `time` less this is its begin
    const seconds = ((response.earlyEnd ?? now) - startTime) / 1000
    metrics.requestEnded({ operation, method, status: String(status ?? 'none') }, seconds)
    if (refused) metrics.refused(refused)
    const path = redactPath(request.url ?? '')
    const location = response.getHeader('Location') // of what was created
    const outcome = { location, status, bytes, code, refused, cause, aborted: reason, ms }
    const line = { id, trace_id, remoteAddress, ...own, method, path, operation, ...outcome }
    const isFailure = response.statusCode >= 500 || reason === 'failed'
    const level = isFailure ? 'error' : reason ? 'warn' : 'info'
    log[level](line, reason ? 'response aborted' : 'request')
  }

  return {
    onRequest(request: IncomingRequest, response: OutgoingResponse): () => void {
      const startTime = performance.now()
      metrics.requestBegun()
      const id = idOf(request) ?? randomUUID()
      request.log.id = id
      response.setHeader('X-Request-Id', id)
      response.setHeader('X-Content-Type-Options', 'nosniff')
      response.setHeader('Cache-Control', 'no-store') // unless the guard says otherwise
      return () => onResponse(request, response, startTime)
    },
    onConnections: metrics.connections,
    onDropped: metrics.connectionDropped,
    onAbandoned({ log: { id, trace_id, operation } }: IncomingRequest): void {
      metrics.handlerAbandoned(operation ?? 'guard')
      const name = operation ? `the guard or the handler of ${operation}` : 'the guard'
      log.error({ id, trace_id, operation }, `${name} has not ended since its client left: ${HINT}`)
    },
    onMalformed({ status, body }: HttpError, id: string, code: string, socket: Socket): void {
      const { remoteAddress } = socket
      const bytes = Buffer.byteLength(body)
      log.warn({ id, remoteAddress, status, bytes, code }, 'rejected malformed HTTP')
    },
    /** The service failed to serve a request. The line of the request has the cause; only of a bug, the stack is logged. */
    onFailure: (error: HttpError, { req: { log: fields } }: Context): void => {
      const { message, cause = error } = error
      fields.cause = messageOf(cause)
      if (cause instanceof StoreFailure) return // an outage would fill the disk with stacks
      log.error({ id: fields.id, trace_id: fields.trace_id, err: cause }, message)
    },
  }
}

const HINT = 'its place is free, but not its memory; give client.signal to what it waits for'

/** No character that needs escaping anywhere, and no `@`, which addresses have. */
const SAFE_ID = /^[\w.:/+=-]{1,128}$/

/** The id that the client or a proxy gave the request. */
const idOf = ({ headers }: IncomingRequest) =>
  SAFE_ID.exec(String(headers['x-request-id'] ?? ''))?.[0]
