// What can go wrong with users, and the one place that turns any error into a response.
import { STATUS_CODES } from 'node:http'
import type Koa from 'koa'
import { CHALLENGE } from './auth/guard.ts'
import { HttpError } from './http/http-error.ts'
import type { IncomingRequest } from './http/request.ts'
import type { OutgoingResponse } from './http/response.ts'
import { isWeak } from './preconditions.ts'
import { StoreFailure } from './store/failure.ts'
import { EmailTaken } from './store/user-store.ts'

export const USER_NOT_FOUND = new HttpError(404, 'user_not_found', 'no user has this id')
export const UNKNOWN_EMAIL = new HttpError(
  401,
  'email_not_found',
  'no user has this email',
  CHALLENGE,
)

export const preconditionFailed = (ifMatch = '*') =>
  isWeak(ifMatch)
    ? new HttpError(412, 'etag_weak', WEAK_IF_MATCH)
    : new HttpError(412, 'precondition_failed', FAILED)

const internalError = (message: string, cause: unknown) =>
  new HttpError(500, 'internal_error', message, { cause })

/** Turns any error into an HttpError. A 5xx keeps the error as its cause, for the log. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof EmailTaken) return new HttpError(400, 'email_taken', error.message)
  if (error instanceof StoreFailure) return internalError('the data store failed', error)
  return internalError('internal error', error)
}

/** Makes `app` respond to everything that is thrown in it, and emit `error` for a 5xx. */
export function respondToErrors(app: Koa): void {
  app.context.onerror = function (this: Koa.Context, error: NodeJS.ErrnoException | null) {
    if (!error) return
    const isTooLate = this.headerSent || !this.writable
    if (isTooLate && CLIENT_GONE.has(error.code ?? '')) return
    const httpError = toHttpError(error)
    const { log } = this.req as IncomingRequest
    log['code'] = httpError.code
    if (httpError.status >= 500) app.emit('error', httpError, this)
    // The client must not take a part of a response for the whole.
    if (isTooLate) {
      if (!(this.res as OutgoingResponse).isEnded) this.req.socket.resetAndDestroy()
      return
    }
    const { status, headers, body } = httpError
    this.res.writeHead(status, STATUS_CODES[status], headers).end(body) // Koa may have set the reason of another status
  }
}

const FAILED = 'the precondition in If-Match or If-None-Match failed'
const WEAK_IF_MATCH =
  'If-Match never matches a weak ETag (`W/`): turn off compression in the proxy that made it weak'

/** Codes of the errors that occur when the client has left before the end of its response. */
const CLIENT_GONE = new Set(['ABORT_ERR', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])
