// Requests that the service cannot serve, and the response to input that is not a request.
import { STATUS_CODES, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import {
  headersOf,
  headersTooLarge,
  malformedRequest,
  misdirectedRequest,
  type Failure,
} from './failure.ts'
import { isRepeated } from './headers.ts'
import type { HostCheck } from './hosts.ts'
import { LIMITS } from './limits.ts'
import { hostOf } from './target.ts'

/** Why a request is refused before anything looks at its path. */
export function refusalOf(request: IncomingMessage, isHere: HostCheck): Failure | undefined {
  if (hasTooManyHeaders(request)) return headersTooLarge()
  if (!hasKnownVersion(request) || !hasValidHost(request) || !hasKnownCoding(request)) {
    return malformedRequest()
  }
  const host = hostOf(request.url ?? '') ?? request.headers.host
  return host === undefined || isHere(host) ? undefined : misdirectedRequest(host)
}

/** Node's parser may have dropped some of them. */
const hasTooManyHeaders = ({ rawHeaders }: IncomingMessage) =>
  rawHeaders.length > 2 * LIMITS.maxHeaders

/** Node's parser takes other versions, too. */
const hasKnownVersion = ({ httpVersion }: IncomingMessage) =>
  httpVersion === '1.1' || httpVersion === '1.0'

const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/ // the characters of uri-host and port, RFC 9110 §7.2

/** Exactly one valid host (RFC 9112 §3.2); HTTP/1.0 may have none. */
function hasValidHost({ httpVersion, headers: { host }, rawHeaders }: IncomingMessage): boolean {
  if (host === undefined) return httpVersion === '1.0'
  return HOST.test(host) && !isRepeated(rawHeaders, 'host')
}

/** Node decodes only chunks. With any other transfer coding it would pass on encoded bytes. HTTP/1.0 has none. */
function hasKnownCoding({ httpVersion, headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding']
  return coding === undefined || (coding.toLowerCase() === 'chunked' && httpVersion === '1.1')
}

/** Writes a response that belongs to no request, so Node has no object for it, and closes the connection. */
export function farewell(socket: Socket, failure: Failure, id: string): void {
  if (!socket.writable) return
  const { status, body } = failure
  const fields = { Date: new Date().toUTCString(), ...headersOf(failure), 'X-Request-Id': id }
  const headers = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('')}\r\n${body}`)
  // An immediate reset would lose the response for a client that is still sending.
  setTimeout(() => socket.destroy(), LIMITS.linger).unref()
}
