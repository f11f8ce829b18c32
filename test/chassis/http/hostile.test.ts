// Hostile clients over bare sockets: each kind meets a bound, and meanwhile ordinary requests are
// answered. (What is no request at all is in server.test.ts.)
import { afterEach, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { SERVER_LIMITS } from '../../../src/chassis/http/limits.ts'
import { dial } from '../support/app.ts'
import * as clients from '../support/clients.ts'
import { doesNotRead, goesOn, hangUp, many, says, textFrom, until } from '../support/clients.ts'
import { bodies } from '../support/hostile.ts'
import * as notes from '../support/notes.ts'
import { added, addNote, addNoteHead, statusesIn, useNotes } from '../support/notes.ts'
import { CHUNKED, chunksOf, CLOSE, get } from '../support/requests.ts'

/** Limits that do not take a minute. Node checks them once per interval. */
const SHORT = { headersTimeout: 500, requestTimeout: 800, connectionsCheckingInterval: 100 }

/** How many lists have begun. */
let lists = 0
async function* endless() {
  lists += 1
  for (;;) {
    await sleep(1)
    yield [{ text: 'x'.repeat(50_000), tag: '' }]
  }
}
const listNotes = () => ({ status: 200, body: endless() })

const service = useNotes()
const amid = <T>(hostile: Promise<T>, port: number) =>
  clients.amid(hostile, port, notes.useNoteService)

afterEach(hangUp)

/** The statuses that the clients of a table get, `count` of each, all at once and amid ordinary requests. */
async function statusesOf(
  table: Record<string, clients.Hostile>,
  count: number,
  port = service().port,
) {
  const statuses = Object.entries(table).map(async ([name, client]) => {
    const texts = await many(count, () => textFrom(client, port))
    return [name, [...new Set(texts.map((text) => text && statusesIn(text).join()))].join(' or ')]
  })
  return Object.fromEntries(await amid(Promise.all(statuses), port)) as Record<string, string>
}
const allGet = (status: string, clients: object) =>
  Object.fromEntries(Object.keys(clients).map((name) => [name, status]))

const few = useNotes({ listNotes }, { limits: { maxConnections: 20 } })

const { requestTimeout } = SERVER_LIMITS
const forHeaders = useNotes({ listNotes }, { limits: { ...SHORT, requestTimeout } })
const forBodies = useNotes({ listNotes }, { limits: SHORT })
const forSilence = useNotes({ listNotes }, { limits: { ...SHORT, timeout: 500 } })

test('headers that do not end get 408', async () => {
  const slow = goesOn('GET / HTTP/1.1\r\nHost: localhost\r\n', 'a: b\r\n', 100)
  expect(await statusesOf({ slow }, 20, forHeaders().port)).toEqual({ slow: '408' })
})

// SECURITY.md: Time for headers and body
test('a body that does not end gets 408', async () => {
  const slow = goesOn(addNoteHead('Content-Length: 100000\r\n'), ' ', 100)
  expect(await statusesOf({ slow }, 8, forBodies().port)).toEqual({ slow: '408' })
})

// SECURITY.md: A silent connection
test('a client that stops reading is disconnected by a reset', async () => {
  const { port, lines } = forSilence()
  const sockets = await many(5, async () => doesNotRead(get('/notes'))(port))
  const broken = () => lines.filter(({ aborted }) => aborted === 'timeout')
  const areBroken = until(() => broken().length === 5)
  await amid(areBroken, port)
  const errors = sockets.map((socket) => new Promise((done) => socket.write('x', done)))
  // A write fails after a reset only; otherwise the kernel would keep the unread part of the response.
  expect((await Promise.all(errors)).some(Boolean)).toBe(true)
})

test('what is too large is refused before it ends', async () => {
  const clients = {
    body: goesOn(addNoteHead('Content-Length: 10000000\r\n'), ' '.repeat(1_000)),
    headers: goesOn('GET / HTTP/1.1\r\nHost: localhost\r\n', 'a:\r\n'.repeat(300)),
    'chunk extension': goesOn(`${addNoteHead(CHUNKED)}2`, ';a=b'.repeat(300)),
  }
  const statuses = { body: '413', headers: '431', 'chunk extension': '413' }
  expect(await statusesOf(clients, 10)).toEqual(statuses)
})

test('a body that is hard to parse is refused like any other', async () => {
  const clients = Object.entries(bodies).map(([name, body]) => [name, says(addNote(body, CLOSE))])
  expect(await statusesOf(Object.fromEntries(clients), 2)).toEqual(allGet('400', bodies))
})

test('connections that stop sending a body make room before an upload that goes on', async () => {
  const upload = addNote(`{"text":"x"${' '.repeat(90_000)}}`, CLOSE)
  const { socket, text } = dial(few().port)
  for (let at = 0; at < upload.length; at += 2_000) {
    socket.write(upload.slice(at, at + 2_000))
    says(upload.slice(0, 1_000))(few().port)
    await sleep(10)
  }
  await until(() => socket.closed)
  expect(statusesIn(text())).toEqual([201])
})

test('pipelined requests are served one at a time', async () => {
  lists = 0
  const { port } = few()
  doesNotRead(get('/notes').repeat(10))(port)
  await amid(sleep(300), port)
  expect(lists).toBe(1)
})

// SECURITY.md: Waiting requests of one connection
test('pipelined requests close the connection when more than ten wait', async () => {
  const clients = {
    'with twelve requests': says(get('/notes/x').repeat(12)),
    'with eleven after a refused one': says(get('/notes/x', 'Host: y\r\n').repeat(12)),
  }
  expect(await statusesOf(clients, 5)).toEqual(allGet('', clients))
})

// SECURITY.md: Request line and headers
test('headers are all read, up to 100; more get 431', async () => {
  const request = (headers: string) => says(get('/notes/x', headers + CLOSE))
  const besides = get('/notes/x', CLOSE).split('\r\n').length - 3 // without the request line and the end
  const more = (count: number) => 'a:\r\n'.repeat(count - besides)
  const clients = {
    'a hundred': request(more(100)),
    'a hundred and one': request(more(101)),
    'thousands, with a second host': request(`${more(3_000)}Host: y\r\n`),
  }
  expect(await statusesOf(clients, 1)).toEqual({
    'a hundred': '404',
    'a hundred and one': '431',
    'thousands, with a second host': '431',
  })
})

// SECURITY.md: Body
test('a body may have a thousand chunks; with more it gets 413', async () => {
  const chunks = (count: number) => {
    const body = chunksOf('{"text":"x"}'.padEnd(count))
    return says(addNoteHead(`Transfer-Encoding: Chunked\r\n${CLOSE}`) + body)
  }
  const clients = { 'a thousand': chunks(1_000), more: chunks(1_001) }
  expect(await statusesOf(clients, 5)).toEqual({ 'a thousand': '201', more: '413' })
})

const waiting: (() => void)[] = []
const waits = useNotes({
  async addNote(input) {
    if (input.body.text!.length >= 4_096)
      await new Promise<void>((resolve) => waiting.push(resolve))
    return added(input)
  },
})

// SECURITY.md: Bodies over 4 KB
test('large bodies are parsed and stored 16 at a time; others do not wait for them', async () => {
  const { port } = waits()
  const large = addNote({ text: 'x'.repeat(5_000) }, CLOSE)
  const responses = many(40, () => textFrom(says(large), port))
  await until(() => waiting.length >= 16)
  await amid(sleep(100), port)
  expect(waiting.length).toBe(16)
  const release = setInterval(() => waiting.shift()?.(), 1)
  expect((await responses).map((text) => text.slice(9, 12))).toEqual(Array(40).fill('201'))
  clearInterval(release)
})

const patient = useNotes({ listNotes }, { limits: { requestTimeout: 0, timeout: 0 } })

// SECURITY.md: Rest of a body, after an early response
test('the rest of a body that nobody reads is dropped only for a moment', async () => {
  const endless = goesOn(get('/nothing', CHUNKED), '1\r\na\r\n')
  expect(statusesIn(await textFrom(endless, patient().port))).toEqual([404])
})
