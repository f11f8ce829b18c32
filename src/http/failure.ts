// The failures of HTTP, each with a status and a message. Knows nothing about stores or users.
import type { ServerResponse } from 'node:http'
import type Koa from 'koa'

/** A failure as the client sees it: `{ "message": string }` with a status and headers. */
export class Failure extends Error {
  readonly status: number
  readonly headers: Record<string, string>
  /** The body of the response: JSON. */
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

/** The media type of every JSON body. */
export const JSON_TYPE = 'application/json; charset=utf-8'

export const CHALLENGE = { headers: { 'WWW-Authenticate': 'Bearer' } } // RFC 6750 §3

export const malformedRequest = () => new Failure(400, 'the request is not valid HTTP')
export const invalidBody = (message: string, options?: ErrorOptions) =>
  new Failure(400, message, options)
export const invalidQuery = (name: string, complaint: string) =>
  new Failure(400, `query parameter \`${name}\` ${complaint}`)
export const unauthorized = () => new Failure(401, 'a valid bearer token is required', CHALLENGE)
export const noSuchPath = () => new Failure(404, 'there is nothing at this path')
export const methodNotAllowed = (method: string, allowed: string) =>
  new Failure(405, `the method ${method} is not allowed on this path`, {
    headers: { Allow: allowed },
  })
export const requestTimeout = () => new Failure(408, 'the request did not arrive in time')
export const bodyTooLarge = () => new Failure(413, 'the body is too large')
export const unsupportedMediaType = (message: string) => new Failure(415, message)
export const misdirectedRequest = (host: string) =>
  new Failure(421, `this service is not at the host ${host}`)
export const headersTooLarge = () => new Failure(431, 'the headers are too large')
export const internalError = (cause: unknown) => new Failure(500, 'internal error', { cause })

/** Why Node's HTTP parser gave up. Its codes: https://nodejs.org/api/http.html#event-clienterror */
export function parserFailure({ code }: NodeJS.ErrnoException): Failure {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge()
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return bodyTooLarge()
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestTimeout()
  return malformedRequest()
}

/** Makes `failure` the response of `ctx`. */
export function answer(ctx: Koa.Context, failure: Failure): void {
  ctx.status = failure.status
  ctx.set(failure.headers)
  ctx.set('Content-Type', JSON_TYPE)
  ctx.body = failure.body
}

/** Writes `failure` as the last response of its connection. */
export function refuse(response: ServerResponse, failure: Failure): void {
  response.writeHead(failure.status, headersOf(failure)).end(failure.body)
}

export const headersOf = ({ headers, body }: Failure) => ({
  ...headers,
  'Content-Type': JSON_TYPE,
  'Content-Length': Buffer.byteLength(body),
  Connection: 'close',
})
