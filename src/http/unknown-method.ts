// Requests with a method that Node's parser does not know. Any token is a method (RFC 9110 §9.1).
import { IncomingMessage, maxHeaderSize, METHODS } from 'node:http'
import type { Socket } from 'node:net'

const HEAD = /^([!#$%&'*+.^`|~\w-]+) ([!-~]+) HTTP\/1\.1\r\n((?:[^\r\n]+\r\n)*)\r\n/
const FIELD = /^([!#$%&'*+.^`|~\w-]+):([^\0]*)$/

/**
 * The request that a packet starts with. Its body, if it has one, is left: no operation takes it.
 *
 * @returns undefined unless the head is whole and well-formed, and its method unknown to Node; one
 * that is so only by its letter case is none, for the router would take it for the other
 */
export function requestOfUnknownMethod(
  packet: Buffer,
  socket: Socket,
): IncomingMessage | undefined {
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
  return Object.assign(new IncomingMessage(socket), parts)
}
