// What is told of a request: its id, its line in the log, its metrics.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'
import { rawPath } from '../http/target.ts'

declare module 'node:http' {
  interface IncomingMessage {
    /** Names the request, in X-Request-Id and in the log. */
    id?: string
    /** The trace that it is part of. */
    trace?: string
    /** The operation that it reached, by its operationId. */
    operation?: string
    /** Why the guard refused its token. */
    refused?: string
  }
}

export interface Observers {
  log: Logger
  metrics: Metrics
}

/** Gives `request` its id, and tells of it when its connection is through with `response`. */
export function observe(
  request: IncomingMessage,
  response: ServerResponse,
  { log, metrics }: Observers,
): void {
  const start = performance.now()
  metrics.requestBegun()
  request.id = idOf(request) ?? randomUUID()
  request.trace ??= traceOf(request)
  response.setHeader('X-Request-Id', request.id)
  response.once('close', () => {
    const { id, trace, method = '', operation, refused } = request
    const status = response.headersSent ? response.statusCode : undefined
    const ms = Math.round((performance.now() - start) * 1000) / 1000
    const end = { operation: operation ?? 'none', method, status: String(status ?? 'none') }
    metrics.requestEnded(end, ms / 1000)
    if (refused) metrics.refused(refused)
    const path = rawPath(request.url ?? '')
    const line = { id, trace_id: trace, method, path, status, refused, ms }
    if (response.writableFinished) log.info(line, 'request')
    else log.warn(line, 'request broken off')
  })
}

const SANE = /^[\w.:/+=@-]{1,128}$/ // what ids are made of; nothing that would need escaping anywhere

function idOf({ headers }: IncomingMessage): string | undefined {
  const id = headers['x-request-id']
  return typeof id === 'string' && SANE.test(id) ? id : undefined
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}/

/** The trace that the client names (W3C Trace Context §3.2). */
function traceOf({ headers }: IncomingMessage): string | undefined {
  const { traceparent } = headers
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined
}
