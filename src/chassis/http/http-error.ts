// The errors of HTTP, each with a status, a code and a message. Knows nothing about stores.
import type { Socket } from 'node:net'
import { contentOfText, JSON_TYPE } from './json.ts'
import { LIMITS } from './limits.ts'
import { IncomingRequest } from './request.ts'
import { OutgoingResponse } from './response.ts'

/** The statuses of errors (https://www.iana.org/assignments/http-status-codes): Node would throw at any other number. */
type ErrorStatus =
  | (400 | 401 | 402 | 403 | 404 | 405 | 406 | 407 | 408 | 409 | 410 | 411 | 412 | 413 | 414 | 415)
  | (416 | 417 | 421 | 422 | 423 | 424 | 425 | 426 | 428 | 429 | 431 | 451)
  | (500 | 501 | 502 | 503 | 504 | 505 | 506 | 507 | 508 | 511)

/** An error as the client sees it: `{ "message": string, "code": string }` with a status and headers. */
export class HttpError extends Error {
  readonly status: ErrorStatus
  /** For programs. openapi.yaml lists all codes. */
  readonly code: string
  readonly headers: Record<string, string>
  /** The body of the response: JSON. */
  readonly body: string | Buffer

  constructor(
    status: ErrorStatus,
    code: string,
    message: string,
    { headers = {}, ...options }: ErrorOptions & { headers?: Record<string, string> } = {},
  ) {
    super(message, options)
    this.status = status
    this.code = code
    this.body = contentOfText(JSON.stringify({ message, code })) // it can quote a long text
    const length = Buffer.byteLength(this.body)
    this.headers = { ...headers, 'Content-Type': JSON_TYPE, 'Content-Length': `${length}` }
  }
}

export const MALFORMED = new HttpError(400, 'request_malformed', 'the request is not valid HTTP')
export const BODY_TOO_LARGE = new HttpError(413, 'body_too_large', 'the body is too large')
export const HEADERS_TOO_LARGE = new HttpError(
  431,
  'headers_too_large',
  'the headers are too large',
)
const TIMEOUT = new HttpError(408, 'request_timeout', 'the request did not arrive in time')

/** Why Node's HTTP parser gave up, if it is not `MALFORMED`: https://nodejs.org/api/http.html#event-clienterror */
export const PARSER_ERRORS: Record<string, HttpError | undefined> = {
  HPE_HEADER_OVERFLOW: HEADERS_TOO_LARGE,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: BODY_TOO_LARGE,
  ERR_HTTP_REQUEST_TIMEOUT: TIMEOUT,
}

/** Writes `error` as the last response of its connection. */
export function refuse(response: OutgoingResponse, error: HttpError): void {
  response.req.log.code = error.code
  response.setHeader('Connection', 'close')
  response.setHeader('Cache-Control', 'no-store') // RFC 6585 §5
  response.writeHead(error.status, error.headers).end(error.body)
}

/** Writes `error` as the response to input that is not a request, and closes the connection. */
export function refuseInput(socket: Socket, error: HttpError, id: string): void {
  if (!socket.writable) return
  const request = new IncomingRequest(socket)
  request.complete = true // what follows is dropped below
  const response = new OutgoingResponse(request)
  response.assignSocket(socket)
  response.setHeader('X-Request-Id', id)
  refuse(response, error)
  socket.end()
  // An immediate reset would lose the response for a client that is still sending.
  setTimeout(() => socket.destroy(), LIMITS.linger).unref()
}
