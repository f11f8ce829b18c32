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
    const { id, trace_id, operation = 'none', refused, code, cause, ...client } = request.log
    const { remoteAddress } = request.socket
    const status = response.headersSent ? response.statusCode : undefined
    const ms = Math.round(((response.earlyEnd ?? performance.now()) - startTime) * 1000) / 1000
    metrics.requestEnded({ operation, method, status: String(status ?? 'none') }, ms / 1000)
    if (refused) metrics.refused(refused)
    const path = redactPath(request.url ?? '')
    const location = response.getHeader('Location') // of what was created
    const outcome = { location, status, code, refused, cause, ms }
    const line = { id, trace_id, remoteAddress, ...client, method, path, operation, ...outcome }
    if (request.socket.destroyed && !response.earlyEnd) log.warn(line, 'response aborted')
    else if (response.statusCode >= 500) log.error(line, 'request')
    else log.info(line, 'request')
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
      const name = operation ? `the handler of ${operation}` : 'the guard'
      log.error({ id, trace_id, operation }, `${name} has not ended since its client left: ${HINT}`)
    },
    onMalformed({ status }: HttpError, id: string, code: string, { remoteAddress }: Socket): void {
      log.warn({ id, remoteAddress, status, code }, 'rejected malformed HTTP')
    },
    /** The service failed to serve a request. The line of the request has the cause; only of a bug, the stack is logged. */
    onFailure: ({ message, cause }: HttpError, { req: { log: fields } }: Context): void => {
      fields.cause = messageOf(cause)
      if (cause instanceof StoreFailure) return // an outage would fill the disk with stacks
      log.error({ id: fields.id, trace_id: fields.trace_id, err: cause }, message)
    },
  }
}

const HINT = 'its place is free, but not its memory; give client.signal to what it waits for'

const SAFE_ID = /^[\w.:/+=@-]{1,128}$/ // no character that needs escaping anywhere

/** The id that the client or a proxy gave the request. */
const idOf = ({ headers }: IncomingRequest) =>
  SAFE_ID.exec(String(headers['x-request-id'] ?? ''))?.[0]
