// What can go wrong with users, and the one place that turns any error into a response.
import type Koa from 'koa'
import { whole } from './contract/reply.ts'
import type { Budget } from './http/budget.ts'
import { answer, CHALLENGE, Failure, internalError } from './http/failure.ts'
import { isMalformed } from './http/preconditions.ts'
import { EmailTaken, StoreFailure } from './store/user-store.ts'

const emailTaken = ({ message }: EmailTaken) => new Failure(400, message)
export const unknownEmail = () => new Failure(401, 'no user has this email', CHALLENGE)
export const noSuchUser = () => new Failure(404, 'no user has this id')
export const preconditionFailed = (ifMatch = '*') =>
  new Failure(412, isMalformed(ifMatch) ? MALFORMED_IF_MATCH : PRECONDITION_FAILED)
const storeFailed = (cause: StoreFailure) => new Failure(500, 'the data store failed', { cause })

/** Turns any error into a failure. A 5xx keeps the error as its cause, for the log. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof EmailTaken) return emailTaken(error)
  if (error instanceof StoreFailure) return storeFailed(error)
  return internalError(error)
}

/** Makes `app` respond to everything that is thrown in it, and emit `error` for a 5xx. */
export function answerErrors(app: Koa, memory: Budget): void {
  app.context.onerror = function (this: Koa.Context, error: NodeJS.ErrnoException | null) {
    if (!error) return
    const late = this.headerSent || !this.writable
    if (late && CLIENT_GONE.has(error.code ?? '')) return
    const again = this.state['error'] === error // a stream and its response both report it
    this.state['error'] = error
    const failure = toFailure(error)
    if (failure.status >= 500 && !again) app.emit('error', failure, this)
    if (late) return
    answer(this, failure)
    this.res.end(whole(failure.body, this, memory)) // the message can name a long email
  }
}

const PRECONDITION_FAILED = 'the precondition in If-Match or If-None-Match failed'
const MALFORMED_IF_MATCH = 'If-Match must be `*` or ETags in double quotes, such as `"abc"`'

/** Codes of the errors that occur when the client has left before the end of its response. */
const CLIENT_GONE = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])
