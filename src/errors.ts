// The named failures, and the one place that turns any error into an answer.
import type Koa from 'koa'
import { EmailTaken, StoreFailure } from './store/user-store.ts'

/** A failure as HTTP tells it: `{ "message": string }` with a status and headers. */
export class Failure extends Error {
  readonly status: number
  readonly headers: Record<string, string>
  /** What goes over the wire, as UTF-8. */
  readonly body: string

  constructor(
    status: number,
    message: string,
    { headers = {}, ...options }: ErrorOptions & { headers?: Record<string, string> } = {},
  ) {
    super(message, options)
    this.status = status
    this.headers = headers
    this.body = JSON.stringify({ message })
  }
}

/** The media type of every body but a page's, and a list's that is asked for as lines. */
export const JSON_TYPE = 'application/json; charset=utf-8'

const CHALLENGE = { headers: { 'WWW-Authenticate': 'Bearer' } } // RFC 6750 §3

export const malformedRequest = () => new Failure(400, 'the request is not valid HTTP')
export const invalidBody = (message: string, options?: ErrorOptions) =>
  new Failure(400, message, options)
export const invalidQuery = (name: string, complaint: string) =>
  new Failure(400, `query parameter \`${name}\` ${complaint}`)
export const emailTaken = ({ message }: EmailTaken) => new Failure(400, message)
export const unauthorized = () => new Failure(401, 'a valid bearer token is required', CHALLENGE)
export const unknownEmail = () => new Failure(401, 'no user has this email', CHALLENGE)
export const noSuchUser = () => new Failure(404, 'no user has this id')
export const noSuchPath = () => new Failure(404, 'there is nothing at this path')
export const methodNotAllowed = (method: string, allowed: string) =>
  new Failure(405, `this path does not have the method ${method}`, { headers: { Allow: allowed } })
export const requestTimeout = () => new Failure(408, 'the request did not arrive in time')
export const preconditionFailed = () =>
  new Failure(412, 'the user is not as If-Match or If-None-Match asks')
export const bodyTooLarge = () => new Failure(413, 'the body is too large')
export const unsupportedMediaType = (message: string) => new Failure(415, message)
export const headersTooLarge = () => new Failure(431, 'the headers are too large')
export const storeFailed = (cause: StoreFailure) =>
  new Failure(500, 'the data store failed', { cause })
export const internalError = (cause: unknown) => new Failure(500, 'internal error', { cause })

/** Any error as the failure that the client is told of. A 5xx keeps it as its cause, for the log. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof EmailTaken) return emailTaken(error)
  if (error instanceof StoreFailure) return storeFailed(error)
  return internalError(error)
}

/** What Node's HTTP parser gave up on, as a failure. Its codes: https://nodejs.org/api/http.html#event-clienterror */
export function parserFailure({ code }: NodeJS.ErrnoException): Failure {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge()
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return bodyTooLarge()
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestTimeout()
  return malformedRequest()
}

/** Makes `failure` the answer of `ctx`. */
export function answer(ctx: Koa.Context, failure: Failure): void {
  ctx.status = failure.status
  ctx.set(failure.headers)
  ctx.set('Content-Type', JSON_TYPE)
  ctx.body = failure.body
}

/** Has `app` answer whatever is thrown in it. It emits `error` for those that are the service's fault. */
export function answerErrors(app: Koa): void {
  app.context.onerror = function (this: Koa.Context, error: NodeJS.ErrnoException | null) {
    if (!error) return
    const late = this.headerSent || !this.writable
    if (late && CLIENT_GONE.has(error.code ?? '')) return
    const again = this.state['error'] === error // what breaks a stream comes from the response, too
    this.state['error'] = error
    const failure = toFailure(error)
    if (failure.status >= 500 && !again) app.emit('error', failure, this)
    if (late) return
    answer(this, failure)
    this.res.end(failure.body)
  }
}

/** Codes of errors that only say that the client did not wait for its answer. */
const CLIENT_GONE = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])
