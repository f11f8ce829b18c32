// The failures of HTTP, each with a status and a message. Knows nothing about stores or users.
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type Koa from 'koa'
import { LIMITS } from './limits.ts'

/** A failure as the client sees it: `{ "message": string }` with a status and headers. */
export class Failure extends Error {
  readonly status: number
  readonly headers: Record<string, string>
  /** The body of the response: JSON. */
  readonly body: string | Buffer

  constructor(
    status: number,
    message: string,
    { headers = {}, ...options }: ErrorOptions & { headers?: Record<string, string> } = {},
  ) {
    super(message, options)
    this.status = status
    this.headers = { ...headers, 'Content-Type': JSON_TYPE }
    this.body = contentOfText(JSON.stringify({ message })) // it can name a long email
  }
}

/** A long text as bytes, which are not in V8's heap while the client does not read them. */
export const contentOfText = (text: string): string | Buffer =>
  text.length > LIMITS.largeBody ? Buffer.from(text) : text

/** The media type of every JSON body. */
export const JSON_TYPE = 'application/json; charset=utf-8'

export const CHALLENGE = { headers: { 'WWW-Authenticate': 'Bearer' } } // RFC 6750 §3

export const malformedRequest = () => new Failure(400, 'the request is not valid HTTP')
export const invalid = (message: string, options?: ErrorOptions) =>
  new Failure(400, message, options)
export const unauthorized = () => new Failure(401, 'a valid bearer token is required', CHALLENGE)
export const pathNotFound = (hint = '') => new Failure(404, `path not found${hint}`)
export const methodNotAllowed = (method: string, Allow: string) =>
  new Failure(405, `the method ${method} is not allowed on this path`, { headers: { Allow } })
export const bodyTooLarge = () => new Failure(413, 'the body is too large')
export const unsupportedMediaType = (message: string) => new Failure(415, message)
export const headersTooLarge = () => new Failure(431, 'the headers are too large')
export const internalError = (cause: unknown) => new Failure(500, 'internal error', { cause })

/** Why Node's HTTP parser gave up. Its codes: https://nodejs.org/api/http.html#event-clienterror */
export function parserFailure({ code }: NodeJS.ErrnoException): Failure {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge()
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return bodyTooLarge()
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Failure(408, 'the request did not arrive in time')
  return malformedRequest()
}

/** Makes `failure` the response of `ctx`. */
export function respond(ctx: Koa.Context, failure: Failure): void {
  ctx.status = failure.status
  ctx.set(failure.headers)
  ctx.body = failure.body
}

/** Writes `failure` as the last response of its connection. @param id that of the request, if it has none yet */
export function refuse(response: ServerResponse, failure: Failure, id?: string): void {
  if (id && !response.hasHeader('X-Request-Id')) response.setHeader('X-Request-Id', id)
  response.writeHead(failure.status, headersOf(failure)).end(failure.body)
}

const headersOf = ({ headers, body }: Failure) => ({
  ...headers,
  'Content-Length': Buffer.byteLength(body),
  Connection: 'close',
})

/** Writes a response that belongs to no request, so Node has no object for it, and closes the connection. */
export function writeFinalResponse(socket: Socket, failure: Failure, id: string): void {
  if (!socket.writable) return
  const { status, body } = failure
  const fields = { Date: new Date().toUTCString(), ...headersOf(failure), 'X-Request-Id': id }
  const headers = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('')}\r\n${body.toString()}`,
  )
  // An immediate reset would lose the response for a client that is still sending.
  setTimeout(() => socket.destroy(), LIMITS.linger).unref()
}
