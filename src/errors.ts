// What can go wrong with users, and the one place that turns any error into a response.
import { STATUS_CODES } from 'node:http'
import type Koa from 'koa'
import { CHALLENGE, HttpError } from './http/http-error.ts'
import type { IncomingRequest } from './http/request.ts'
import { isMalformed, isWeak } from './preconditions.ts'
import { StoreFailure } from './store/failure.ts'
import { EmailTaken } from './store/user-store.ts'

export const UNKNOWN_EMAIL = new HttpError(401, 'no user has this email', {
  ...CHALLENGE,
  code: 'email_not_found',
})
export const USER_NOT_FOUND = new HttpError(404, 'no user has this id', { code: 'user_not_found' })

export function preconditionFailed(ifMatch = '*', ifNoneMatch = '*'): HttpError {
  if (isMalformed(ifMatch)) return malformed('If-Match')
  if (isMalformed(ifNoneMatch)) return malformed('If-None-Match')
  if (isWeak(ifMatch)) return new HttpError(412, WEAK_IF_MATCH, { code: 'etag_weak' })
  return new HttpError(412, 'the precondition in If-Match or If-None-Match failed')
}

const malformed = (header: string) =>
  new HttpError(412, `${header} must be \`*\` or ETags in double quotes, such as \`"abc"\``, {
    code: 'precondition_malformed',
  })

/** Turns any error into an HttpError. A 5xx keeps the error as its cause, for the log. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof EmailTaken) return new HttpError(400, error.message, { code: 'email_taken' })
  if (error instanceof StoreFailure)
    return new HttpError(500, 'the data store failed', { cause: error })
  return new HttpError(500, 'internal error', { cause: error })
}

/** Makes `app` respond to everything that is thrown in it, and emit `error` for a 5xx. */
export function respondToErrors(app: Koa): void {
  app.context.onerror = function (this: Koa.Context, error: NodeJS.ErrnoException | null) {
    if (!error) return
    const isTooLate = this.headerSent || !this.writable
    if (isTooLate && CLIENT_GONE.has(error.code ?? '')) return
    const isKnown = this.state['error'] === error // a stream and its response both report it
    this.state['error'] = error
    const httpError = toHttpError(error)
    Object.assign((this.req as IncomingRequest).log, { code: httpError.code })
    if (httpError.status >= 500 && !isKnown) app.emit('error', httpError, this)
    // The client must not take a part of a response for the whole.
    if (isTooLate) {
      if (!this.res.writableEnded) this.req.socket.resetAndDestroy()
      return
    }
    const { status, headers, body } = httpError
    this.res.writeHead(status, STATUS_CODES[status], headers).end(body) // Koa may have set the reason of another status
  }
}

const WEAK_IF_MATCH =
  'If-Match never matches a weak ETag (`W/`): turn off compression in the proxy that made it weak'

/** Codes of the errors that occur when the client has left before the end of its response. */
const CLIENT_GONE = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])
