// Hostile clients over bare sockets, by what they do, and a client that means no harm.
import { expect } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { BODY_LIMIT, send, tokens } from './service.ts'
import { newUser } from './users.ts'

export const AUTHORIZATION = `Authorization: Bearer ${tokens.issue('665f1c2e8b3f4a0012d4c001')}\r\n`

/** Requests, as they go over the wire. */
export const get = (path: string, headers = '') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}${headers}\r\n`
export const login = (headers: string) =>
  `POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}\r\n`
export const postHead = (headers: string) =>
  `POST /users HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}Content-Type: application/json\r\n${headers}\r\n`
export const post = (body: string, headers = '') =>
  `${postHead(`${headers}Content-Length: ${Buffer.byteLength(body)}\r\n`)}${body}`
/** The last request on its connection. */
export const CLOSE = 'Connection: close\r\n'
export const CHUNKED = 'Transfer-Encoding: chunked\r\n'

export const loginWith = (body: string, headers = '') =>
  `${login(`${headers}Content-Length: ${Buffer.byteLength(body)}\r\n`)}${body}`

/** As chunks of one byte. */
export const oneByOne = (body: string) =>
  `${login(CHUNKED)}${body.replaceAll(/[^]/g, '1\r\n$&\r\n')}0\r\n\r\n`

/** Bodies as large as may be that are hard to parse, for what is not stored. */
const deep = Math.floor(BODY_LIMIT / 12)
export const bodies = {
  'arrays in arrays': '['.repeat(BODY_LIMIT / 2) + ']'.repeat(BODY_LIMIT / 2),
  'objects in objects': `${'{"email":'.repeat(deep)}1${'}'.repeat(deep)}`,
  'many fields': `{${Array.from({ length: deep }, (_, i) => `"${i}":0`).join(',')}}`,
  'a long number': `{"email":${'9'.repeat(BODY_LIMIT - 10)}}`,
  'many prototypes': `{${'"__proto__":{"email":"x"},'.repeat(deep / 3)}"x":0}`,
}

/** A client that goes on until its connection ends; `onText` gets what the service sends to it. */
export type Hostile = (port: number, onText?: (text: string) => void) => net.Socket

const open = new Set<net.Socket>()
/** Ends the connections of all clients. */
export function hangUp(): void {
  for (const socket of open) socket.destroy()
}

function connect(port: number, onText: (text: string) => void = () => {}) {
  const socket = net
    .connect(port, '127.0.0.1')
    .on('error', () => {}) // a reset, which is an end
    .on('close', () => open.delete(socket))
    .setEncoding('latin1')
    .on('data', onText)
  open.add(socket)
  return socket
}

/** What the service has sent to a client, once the connection has ended. */
export async function textFrom(client: Hostile, port: number): Promise<string> {
  let text = ''
  const socket = client(port, (more) => (text += more))
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}

/** As many clients as `count`, all at once. */
export const many = <T>(count: number, one: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, one))

/** What a client does that means no harm; each response is what it should be. */
export async function useOrdinarily(port: number): Promise<void> {
  const fields = newUser({ email: `${randomUUID()}@example.com` })
  const made = await send(port, 'POST /users', { json: fields })
  const { id } = made.json
  expect([made.status, made.json]).toEqual([201, { id, ...fields }])
  expect((await send(port, `PUT /users/${id}`, { json: { name: 'Ada' } })).status).toBe(204)
  expect((await send(port, `GET /users/${id}`)).json).toEqual({ id, ...fields, name: 'Ada' })
  const { json } = await send(port, 'POST /login', { authorization: undefined, json: fields })
  const authorization = `Bearer ${json.token}`
  expect((await send(port, `DELETE /users/${id}`, { authorization })).status).toBe(204)
  expect((await send(port, `GET /users/${id}`)).status).toBe(404)
}

/** Awaits what is hostile, and uses the service ordinarily at least once until then. */
export async function amid<T>(
  hostile: Promise<T>,
  port: number,
  use: (port: number) => Promise<void> = useOrdinarily,
): Promise<T> {
  const state = { isOver: false }
  const end = hostile.finally(() => (state.isOver = true))
  do {
    await use(port)
    await sleep(20)
  } while (!state.isOver)
  return end
}

/** Sends something, then listens. */
export const says =
  (bytes: string): Hostile =>
  (port, onText) => {
    const socket = connect(port, onText)
    socket.write(bytes)
    return socket
  }

/** Sends `head`, then `piece` again and again, without an end. */
export const goesOn =
  (head: string, piece: string, pause = 20): Hostile =>
  (port, onText) => {
    const socket = says(head)(port, onText)
    const more = () => !socket.writableNeedDrain && socket.write(piece)
    const timer = setInterval(() => setImmediate(more), pause) // first, what has arrived is read
    return socket.once('close', () => clearInterval(timer))
  }

/** Sends requests and reads no response. */
export const doesNotRead =
  (bytes: string): Hostile =>
  (port, onText) =>
    says(bytes)(port, onText).pause()

/** Sends a request and reads the response a little at a time. */
export const readsSlowly =
  (bytes: string): Hostile =>
  (port, onText) => {
    const socket = doesNotRead(bytes)(port, onText)
    socket.on('data', () => socket.pause())
    const timer = setInterval(() => socket.resume(), 50)
    return socket.once('close', () => clearInterval(timer))
  }

/** Sends something again and again, each time over a new connection, soon after the end of the one before. */
export const comesBack =
  (bytes: string, until: () => boolean): Hostile =>
  (port, onText) =>
    says(bytes)(port, onText).once('close', () => {
      if (!until()) setTimeout(comesBack(bytes, until), 10, port, onText)
    })

const resets: Hostile = (port, onText) => {
  const socket = says(get('/users'))(port, onText)
  return socket.once('data', () => socket.resetAndDestroy())
}

export const slowHeaders: Record<string, Hostile> = {
  'never sends a byte': says(''),
  'sends a header now and then': goesOn('GET / HTTP/1.1\r\nHost: localhost\r\n', 'a: b\r\n', 100),
  'sends empty lines without end': goesOn('', '\r\n'.repeat(1_000)),
  'sends spaces without end': goesOn('GET / HTTP/1.1\r\nHost:', ' '.repeat(1_000)),
}
export const slowBodies: Record<string, Hostile> = {
  'sends a body byte by byte': goesOn(login('Content-Length: 100000\r\n'), ' ', 100),
  'does not end its body': says(`${login('Content-Length: 100\r\n')}{`),
  'does not end its chunks': goesOn(login(CHUNKED), '1\r\n \r\n', 100),
  'has much to say of every chunk': goesOn(login(CHUNKED), `1;${'x'.repeat(15_000)}\r\n \r\n`, 100),
  'pads the size of a chunk': goesOn(login(CHUNKED), '0'.repeat(1_000), 100),
}
export const oversized: Record<string, Hostile> = {
  'a request line without end': goesOn('GET /', 'x'.repeat(1_000)),
  'headers without end': goesOn('GET / HTTP/1.1\r\nHost: localhost\r\n', 'a:\r\n'.repeat(300)),
  'trailers without end': goesOn(`${login(CHUNKED)}0\r\n`, 'a: b\r\n'.repeat(200)),
  'a chunk extension without end': goesOn(`${login(CHUNKED)}2`, ';a=b'.repeat(300)),
}

/** All of them, for a service with many users; those that end are to be begun again. */
export const everyKind: Record<string, Hostile> = {
  ...slowHeaders,
  ...slowBodies,
  ...oversized,
  ...Object.fromEntries(
    Object.entries(bodies).map(([name, body]) => [name, says(loginWith(body))]),
  ),
  'chunks of one byte': says(oneByOne(' '.repeat(20_000))),
  'stops reading': doesNotRead(get('/users')),
  'reads slowly': readsSlowly(get('/users')),
  'pipelines, and does not read': doesNotRead(get('/users').repeat(100)),
  'pipelines without end': goesOn('', get('/nothing').repeat(20), 100),
  'expects 100 without end': goesOn(
    '',
    `${login('Expect: 100-continue\r\nContent-Length: 2\r\n')}{}`.repeat(20),
    100,
  ),
  resets,
}
