// Requests with a method that Node's parser does not know. Any token is a method (RFC 9110 §9.1), so the
// router must be able to return 405.
import { maxHeaderSize, METHODS } from 'node:http'
import type { Socket } from 'node:net'
import { Request } from './request.ts'

const HEAD = /^([!#$%&'*+.^`|~\w-]+) ([!-~]+) HTTP\/1\.1\r\n((?:[^\r\n]+\r\n)*)\r\n/
const FIELD = /^([!#$%&'*+.^`|~\w-]+):([^\0]*)$/

/**
 * The request at the start of a packet. Its body is ignored: no operation has such a method.
 *
 * @returns undefined unless the head is complete and well-formed, and Node does not know its method in
 * any letter case (the router would take `get` for GET)
 */
export function requestOfUnknownMethod(packet: Buffer, socket: Socket): Request | undefined {
  const head = packet.toString('latin1', 0, maxHeaderSize)
  const [, method = '', url, lines = ''] = HEAD.exec(head) ?? []
  if (!url || METHODS.includes(method.toUpperCase())) return undefined
  const rawHeaders: string[] = []
  const headers: Record<string, string> = Object.create(null)
  for (const line of lines.split('\r\n').slice(0, -1)) {
    const [, name, value = ''] = FIELD.exec(line) ?? []
    if (!name) return undefined
    rawHeaders.push(name, value.trim())
    headers[name.toLowerCase()] ??= value.trim()
  }
  const parts = { method, url, httpVersion: '1.1', rawHeaders, headers, complete: true }
  return Object.assign(new Request(socket), parts)
}
