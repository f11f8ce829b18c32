// The one place that turns any error into a response.
import { STATUS_CODES } from 'node:http'
import type Koa from 'koa'
import { StoreFailure } from './failure.ts'
import type { Context } from './http/context.ts'
import { HttpError } from './http/http-error.ts'
import type { Parts } from './service.ts'
import { messageOf } from './telemetry/log.ts'

/** Turns any error into an HttpError. A 5xx keeps the error as its cause, for the log. */
function toHttpError(error: unknown, translate?: Parts<unknown>['toHttpError']): HttpError {
  try {
    if (error instanceof HttpError) return error
    const known: unknown = translate?.(error)
    if (known instanceof HttpError) return known.status < 500 ? known : causedBy(known, error)
    if (known) error = new Error(NO_HTTP_ERROR, { cause: error })
  } catch (thrown) {
    error = new Error(`\`toHttpError\` has thrown: ${messageOf(thrown)}`, { cause: error })
  }
  const message = error instanceof StoreFailure ? 'the data store failed' : 'internal error'
  return new HttpError(500, 'internal_error', message, { cause: error ?? String(error) })
}

/** `known` with the error that it comes from, for the log. */
const causedBy = ({ status, code, message, headers, cause }: HttpError, error: unknown) =>
  new HttpError(status, code, message, { headers, cause: cause ?? error })

/** Makes `app` respond to everything that is thrown in it, and emit `error` for a 5xx. @param translate knows more errors */
export function respondToErrors(app: Koa, translate?: Parts<unknown>['toHttpError']): void {
  app.context.onerror = function (this: Context, error: NodeJS.ErrnoException | null | undefined) {
    if (!error && !this.writable) return // Koa says that the response has ended
    const isTooLate = this.headerSent || !this.writable
    const isOver = this.req.hasLeft || this.res.isEnded // a call of another service has the same codes
    if (isTooLate && isOver && CLIENT_GONE.has(error?.code ?? '')) return
    const httpError = log(this, toHttpError(error, translate))
    // The client must not take a part of a response for the whole.
    if (isTooLate && this.res.isEnded) return
    if (isTooLate) {
      this.req.log.aborted ??= 'failed'
      return void this.req.socket.resetAndDestroy()
    }
    try {
      send(this, httpError)
    } catch (cause) {
      send(this, log(this, toHttpError(cause))) // it had a header that cannot be sent
    }
  }
}

/** Logs what is wrong with a request beside its response. */
export function logMistake(ctx: Context, mistake: string, cause?: unknown): void {
  log(ctx, toHttpError(new Error(mistake, { cause })))
}

function log(ctx: Context, error: HttpError): HttpError {
  ctx.req.log.code = error.code
  if (error.status >= 500) ctx.app.emit('error', error, ctx)
  return error
}

function send({ res }: Context, { status, headers, body }: HttpError): void {
  res.writeHead(status, STATUS_CODES[status], headers).end(body) // Koa may have set the reason of another status
}

const NO_HTTP_ERROR = '`toHttpError` must return an HttpError or undefined'

/** Codes of the errors that occur when the client has left before the end of its response. */
const CLIENT_GONE = new Set(['ABORT_ERR', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])
