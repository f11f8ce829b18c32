// The one place that turns any error into a response.
import { STATUS_CODES } from 'node:http'
import type Koa from 'koa'
import { StoreFailure } from './failure.ts'
import type { Context } from './http/context.ts'
import { HttpError } from './http/http-error.ts'
import type { Parts } from './service.ts'

/** Turns any error into an HttpError. A 5xx keeps the error as its cause, for the log. */
function toHttpError(error: unknown, own?: Parts<unknown>['toHttpError']): HttpError {
  if (error instanceof HttpError) return error
  try {
    const known = own?.(error)
    if (known) return known
  } catch (cause) {
    error = cause
  }
  const message = error instanceof StoreFailure ? 'the data store failed' : 'internal error'
  return new HttpError(500, 'internal_error', message, { cause: error })
}

/** Makes `app` respond to everything that is thrown in it, and emit `error` for a 5xx. @param own knows more errors */
export function respondToErrors(app: Koa, own?: Parts<unknown>['toHttpError']): void {
  app.context.onerror = function (this: Context, error: NodeJS.ErrnoException | null | undefined) {
    if (!error && !this.writable) return // Koa says that the response has ended
    const isTooLate = this.headerSent || !this.writable
    if (isTooLate && CLIENT_GONE.has(error?.code ?? '')) return
    const httpError = toHttpError(error, own)
    this.req.log.code = httpError.code
    if (httpError.status >= 500) app.emit('error', httpError, this)
    // The client must not take a part of a response for the whole.
    if (isTooLate && !this.res.isEnded) this.req.socket.resetAndDestroy()
    if (isTooLate) return
    const { status, headers, body } = httpError
    this.res.writeHead(status, STATUS_CODES[status], headers).end(body) // Koa may have set the reason of another status
  }
}

/** Codes of the errors that occur when the client has left before the end of its response. */
const CLIENT_GONE = new Set(['ABORT_ERR', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])
