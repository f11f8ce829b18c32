// Requests, as they go over the wire.
import type { paths } from '../../src/openapi.ts'
import { tokens } from './service.ts'

export const AUTHORIZATION = `Authorization: Bearer ${tokens.issue('665f1c2e8b3f4a0012d4c001')}\r\n`

export const get = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}${headers}\r\n`
export const postHead = (headers: string, path = '/users') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}Content-Type: application/json\r\n${headers}\r\n`
export const post = (body: string, headers = '', path = '/users') =>
  `${postHead(`${headers}Content-Length: ${Buffer.byteLength(body)}\r\n`, path)}${body}`
/** The last request on its connection. */
export const CLOSE = 'Connection: close\r\n'
export const CHUNKED = 'Transfer-Encoding: chunked\r\n'

const LOGIN: keyof paths = '/login'
export const login = (body: string, headers = '') => post(body, headers, LOGIN)

/** A body as chunks of one byte. */
export const chunksOf = (body: string) => `${body.replaceAll(/[^]/g, '1\r\n$&\r\n')}0\r\n\r\n`
