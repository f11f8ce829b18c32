// Requests, as they go over the wire. Their token is made with the secret of the tests.
import { createTokens } from '../../../src/chassis/tokens/tokens.ts'

export const SECRET = 'a-secret-for-tests-of-more-than-32-bytes'

export const tokens = createTokens([SECRET], 86_400)

/** The value of `Authorization`. */
export const BEARER = `Bearer ${tokens.issue('665f1c2e8b3f4a0012d4c001')}`
export const AUTHORIZATION = `Authorization: ${BEARER}\r\n`

export const get = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}${headers}\r\n`
export const postHead = (headers: string, path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}Content-Type: application/json\r\n${headers}\r\n`
export const post = (body: string, headers: string, path: string) =>
  `${postHead(`${headers}Content-Length: ${Buffer.byteLength(body)}\r\n`, path)}${body}`
/** The last request on its connection. */
export const CLOSE = 'Connection: close\r\n'
export const CHUNKED = 'Transfer-Encoding: chunked\r\n'

/** A body as chunks of one byte. */
export const chunksOf = (body: string) => `${body.replaceAll(/[^]/g, '1\r\n$&\r\n')}0\r\n\r\n`
