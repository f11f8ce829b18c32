// Why a request is refused before anything looks at its path.
import { HttpError, HEADERS_TOO_LARGE, MALFORMED } from './http-error.ts'
import type { HostCheck } from './hosts.ts'
import { LIMITS } from './limits.ts'
import type { IncomingRequest } from './request.ts'
import { hostOf } from './target.ts'

/** The error with which to respond to `request`; undefined if it can be served. */
export function refusalOf(
  request: IncomingRequest,
  isAllowedHost: HostCheck,
): HttpError | undefined {
  const { httpVersion, headers, rawHeaders, url = '' } = request
  if (rawHeaders.length > 2 * LIMITS.maxHeaders) return HEADERS_TOO_LARGE // the parser may have dropped some
  const isHttp1 = /^1\.[01]$/.test(httpVersion) // the parser takes other versions, too
  if (!isHttp1 || !hasValidHost(request) || !hasKnownCoding(request)) return MALFORMED
  const host = hostOf(url) ?? headers.host
  if (host === undefined || isAllowedHost(host)) return undefined
  const message = `this service is not at the host ${host}: set ALLOWED_HOSTS to add it`
  return new HttpError(421, 'host_not_allowed', message)
}

const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/ // the characters of uri-host and port, RFC 9110 §7.2

/** Exactly one valid host (RFC 9112 §3.2): Node joins several with a comma and a space. HTTP/1.0 may have none. */
const hasValidHost = ({ httpVersion, headers: { host } }: IncomingRequest): boolean =>
  host === undefined ? httpVersion === '1.0' : HOST.test(host)

/** Node decodes only chunks. With any other transfer coding it would pass on encoded bytes. HTTP/1.0 has none. */
const hasKnownCoding = ({ httpVersion, headers }: IncomingRequest): boolean => {
  const coding = headers['transfer-encoding']?.toLowerCase()
  return coding === undefined || (coding === 'chunked' && httpVersion === '1.1')
}
