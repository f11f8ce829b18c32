// What can go wrong with users, and the one place that turns any error into a response.
import { STATUS_CODES } from 'node:http'
import type Koa from 'koa'
import { CHALLENGE, Failure } from './http/failure.ts'
import { isMalformed } from './preconditions.ts'
import { EmailTaken, StoreFailure } from './store/user-store.ts'

export const unknownEmail = () => new Failure(401, 'no user has this email', CHALLENGE)
export const userNotFound = () => new Failure(404, 'no user has this id')
export const preconditionFailed = (ifMatch = '*') =>
  new Failure(412, isMalformed(ifMatch) ? MALFORMED_IF_MATCH : PRECONDITION_FAILED)

/** Turns any error into a failure. A 5xx keeps the error as its cause, for the log. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof EmailTaken) return new Failure(400, error.message)
  if (error instanceof StoreFailure)
    return new Failure(500, 'the data store failed', { cause: error })
  return new Failure(500, 'internal error', { cause: error })
}

/** Makes `app` respond to everything that is thrown in it, and emit `error` for a 5xx. */
export function respondToErrors(app: Koa): void {
  app.context.onerror = function (this: Koa.Context, error: NodeJS.ErrnoException | null) {
    if (!error) return
    const isTooLate = this.headerSent || !this.writable
    if (isTooLate && CLIENT_GONE.has(error.code ?? '')) return
    const isKnown = this.state['error'] === error // a stream and its response both report it
    this.state['error'] = error
    const failure = toFailure(error)
    if (failure.status >= 500 && !isKnown) app.emit('error', failure, this)
    // The client must not take a part of a response for the whole.
    if (isTooLate) return void (this.res.writableEnded || this.req.socket.resetAndDestroy())
    const { status, headers, body } = failure
    this.res.writeHead(status, STATUS_CODES[status], headers).end(body) // Koa may have set the reason of another status
  }
}

const PRECONDITION_FAILED = 'the precondition in If-Match or If-None-Match failed'
const MALFORMED_IF_MATCH = 'If-Match must be `*` or ETags in double quotes, such as `"abc"`'

/** Codes of the errors that occur when the client has left before the end of its response. */
const CLIENT_GONE = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])
