// What happens below the app: the requests that Node's parser rejects, and the log line of each.
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { once } from 'node:events'
import net from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { IncomingRequest } from '../../../src/chassis/http/request.ts'
import { createServer } from '../../../src/chassis/http/server.ts'
import { LIMITS } from '../../../src/chassis/http/limits.ts'
import { dial, listen } from '../support/app.ts'
import { collectGarbage } from '../support/garbage.ts'
import { added, addNote, addNoteHead, startNotes, useNotes } from '../support/notes.ts'
import { responsesIn, statusesIn } from '../support/notes.ts'
import { CHUNKED, CLOSE, get } from '../support/requests.ts'

const SLOW = addNote({ text: 'slow' })
/** It takes its time for a note `slow`. */
const service = useNotes({
  async addNote(input) {
    if (input.body.text === 'slow') await sleep(150)
    return added(input)
  },
})

afterEach(() => void jest.restoreAllMocks())
const FOREVER = 3_600_000

test.each([
  ['of another media type', 'text/plain', 415],
  ['that is too large', 'application/json', 413],
])(
  'a body %s gets its status, not 100, and the end (RFC 9110 §10.1.1)',
  async (_, type, status) => {
    const head = `POST /notes HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nExpect: 100-continue\r\n`
    jest.replaceProperty(LIMITS, 'linger', FOREVER) // no body is waited for, which the client does not send
    const text = await service().exchange(`${head}Content-Length: 3000000\r\n\r\n`)
    const headers = { connection: 'close' }
    expect(responsesIn(text, 'POST /notes')).toMatchObject([{ status, headers }])
  },
)

describe('input that is not a request', () => {
  test.each([
    ['garbage', 'nonsense\r\n\r\n'],
    ['HTTP/1.0 with a transfer coding', `POST /notes HTTP/1.0\r\n${CHUNKED}\r\n0\r\n\r\n`],
    ['no host', 'GET /notes HTTP/1.1\r\n\r\n'],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    [
      'a coding, and what follows,',
      `${addNoteHead('Transfer-Encoding: gzip, chunked\r\n')}2\r\n{}\r\n0\r\n\r\n${SLOW}`,
    ],
    ['a broken chunk', `${addNoteHead(CHUNKED)}zz\r\n`],
  ])('%s gets 400 in the usual form, and the connection ends', async (_, bytes) => {
    const date = expect.stringMatching(/ GMT$/)
    const headers = { connection: 'close', 'cache-control': 'no-store', date }
    const json = { message: 'the request is not valid HTTP', code: 'request_malformed' }
    const text = await service().exchange(bytes)
    expect(responsesIn(text)).toMatchObject([{ status: 400, headers, json }])
  })

  test('garbage after a request, and what comes after it, do not replace the response', async () => {
    service().lines.length = 0
    const { socket, text } = dial(service().port)
    socket.write(`${SLOW}${addNoteHead(CHUNKED)}zz\r\n`)
    await sleep(50)
    socket.write('more')
    await once(socket, 'close')
    expect(statusesIn(text())).toEqual([201, 400])
    const cause = 'HPE_INVALID_CHUNK_SIZE'
    expect(service().lines).toMatchObject([{ status: 201 }, { status: 400, cause, path: '/notes' }])
  })

  test('a broken body of a refused request does not get a second response', async () => {
    const { socket, text } = dial(service().port)
    socket.write(`POST /nothing HTTP/1.1\r\nHost: localhost\r\n${CHUNKED}\r\n`)
    await once(socket, 'data')
    socket.write('zz\r\n')
    await once(socket, 'close')
    expect(statusesIn(text())).toEqual([404])
  })
})

test.each([
  ['the host [::1]:3000', `HTTP/1.1\r\nHost: [::1]:3000\r\n${CLOSE}`],
  ['an empty host', `HTTP/1.1\r\nHost:\r\n${CLOSE}`],
  ['HTTP/1.0 without a host', 'HTTP/1.0\r\n'],
  [
    'HTTP/1.0 with an expectation',
    'HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\n',
  ],
  ['another expectation', `HTTP/1.1\r\nHost: localhost\r\nExpect: wonders\r\n${CLOSE}`],
])('%s is accepted, and the connection ends', async (_, rest) => {
  expect(statusesIn(await service().exchange(`GET /nothing ${rest}\r\n`))).toEqual([404])
})

test('a response says that its connection is kept longer than load balancers keep theirs', async () => {
  const { headers } = await fetch(`http://127.0.0.1:${service().port}/nothing`)
  expect(headers.get('keep-alive')).toBe('timeout=620')
})

test('half a body is not kept when its client has left, whatever keeps the request', async () => {
  const request = new IncomingRequest(new net.Socket())
  request.bodyLimit = 10
  const push = () => {
    const piece = Buffer.alloc(10)
    request.push(piece)
    return new WeakRef(piece)
  }
  const pieces = push()
  await nextTurn()
  collectGarbage()
  expect(pieces.deref()).toBeDefined()
  request.destroy()
  await nextTurn()
  collectGarbage()
  expect(pieces.deref()).toBeUndefined()
})

test('a response may end with a callback alone, as in Node', async () => {
  const { server, close } = createServer((_, response) => void response.end(() => {}))
  const port = await listen(server)
  expect((await fetch(`http://127.0.0.1:${port}`)).status).toBe(200)
  await close(FOREVER)
})

test('an offer to upgrade is ignored, and what follows it is not taken for a request', async () => {
  const offer = get('/nothing', 'Connection: Upgrade\r\nUpgrade: h2c\r\n')
  const text = await service().exchange(offer + SLOW)
  expect(responsesIn(text)).toMatchObject([{ status: 404, headers: { connection: 'close' } }])
})

test('CONNECT closes the connection, and so does a client that closes its half', async () => {
  const connect = 'CONNECT /notes HTTP/1.1\r\nHost: localhost\r\n\r\n'
  expect(await service().exchange(connect)).toBe('')
  expect(await service().exchange(SLOW + connect)).toBe('')
  const { socket, text } = dial(service().port)
  socket.end(SLOW)
  await once(socket, 'close')
  expect(text()).toBe('')
  expect((await service().send('GET /nothing')).status).toBe(404)
})

describe('a client that closes its half of the connection', () => {
  /** Sends `request`, closes its half once a response has begun, and reads on. @returns how the connection ended */
  async function halfClose(port: number, request: string): Promise<string> {
    // After a read that does not fill its buffer, libuv takes a reset for an end.
    const buffer = Buffer.alloc(1)
    const onread = { buffer, callback: () => Boolean(socket.end()) }
    const options = { port, host: '127.0.0.1', allowHalfOpen: true, onread }
    const socket: net.Socket = net.connect(options)
    socket.write(request)
    return once(socket, 'end').then(
      () => 'end',
      ({ code }: NodeJS.ErrnoException) => code!,
    )
  }

  test('is reset during a response', async () => {
    const { server, close } = createServer((_, response) => void response.write('a part'))
    try {
      const request = 'GET / HTTP/1.0\r\nHost: x\r\n\r\n'
      expect(await halfClose(await listen(server), request)).toBe('ECONNRESET')
    } finally {
      await close(0)
    }
  })

  test('is not reset after an early response to a part of a body', async () => {
    const upload = addNoteHead('Content-Length: 9\r\n').replace('/notes', '/nothing')
    expect(await halfClose(service().port, upload)).toBe('end')
  })
})

test('a request that is answered early is timed until its response; its line comes when its rest is over', async () => {
  const { port, metrics, lines, close } = await startNotes()
  const { socket } = dial(port)
  socket.write(addNoteHead('Content-Length: 9\r\n').replace('/notes', '/nothing'))
  await once(socket, 'close') // after LIMITS.linger, 1 s
  await close()
  const [, seconds] = /http_request_duration_seconds_sum\{.*\} (\S+)/.exec(
    (await metrics.expose()).text,
  )!
  const [line] = lines as { ms: number }[]
  expect(line!.ms - Number(seconds) * 1000).toBeGreaterThan(500)
})

test('garbage ends the connection, even of a client that does not', async () => {
  const socket = net.connect({ port: service().port, host: '127.0.0.1', allowHalfOpen: true })
  const reset = once(socket, 'error')
  socket.resume().write('nonsense\r\n\r\n')
  await once(socket, 'end')
  const poke = setInterval(() => socket.write('x'), 100)
  await expect(reset).resolves.toBeDefined()
  clearInterval(poke)
})

const statusLinesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1.1 (\d{3})/g)].map(([, status]) => status)

const JSON_CHUNKS = `Content-Type: application/json\r\n${CHUNKED}`
test.each([
  ['POST /notes', JSON_CHUNKS, ['413']],
  ['POST /notes', `${JSON_CHUNKS}Expect: 100-continue\r\n`, ['100', '413']],
  ['POST /nothing', CHUNKED, ['404']],
  ['POST http://other/notes', CHUNKED, ['421']],
])(
  'a client that reads only after it has sent too much gets the response: %s %j',
  async (line, headers, expected) => {
    const hostCheck = () => (host: string) => host === 'localhost'
    const { port } = await startNotes({}, { hostCheck })
    const { socket, text } = dial(port)
    socket.pause().write(`${line} HTTP/1.1\r\nHost: localhost\r\n${headers}${CLOSE}\r\n`)
    const body = `186a0\r\n${'x'.repeat(100_000)}\r\n`.repeat(100)
    await new Promise((sent) => socket.write(`${body}0\r\n\r\n`, sent))
    await once(socket.resume(), 'close')
    expect(statusLinesOf(text())).toEqual(expected)
  },
)

test('a response that comes before the end of a body does not end the connection', async () => {
  jest.replaceProperty(LIMITS, 'linger', FOREVER) // the next one need not wait
  const { socket, text } = dial(service().port)
  const upload = addNote(' '.repeat(1_000)).replace('/notes', '/nothing')
  socket.write(upload.slice(0, -500))
  while (!text().includes('path not found')) await once(socket, 'data')
  socket.write(upload.slice(-500) + get('/notes', CLOSE))
  await once(socket, 'close')
  expect(statusLinesOf(text())).toEqual(['404', '200'])
  expect(service().lines.filter(({ ms }) => Number(ms) < 0)).toEqual([])
})

describe('the log', () => {
  const GENERATED = expect.stringMatching(/^[0-9a-f-]{36}$/)
  /** The lines of a request. Their id is in its response, too. */
  const logged = async (line: string, request?: object) => {
    service().lines.length = 0
    const { headers } = await service().send(line, request)
    while (service().lines.length === 0) await sleep(5)
    expect(service().lines[0]!['id']).toBe(headers['x-request-id'])
    return service().lines
  }

  const remoteAddress = '127.0.0.1'

  test('has a line for each request, with its id, address, method, path, operation, status and time', async () => {
    const answered = {
      id: expect.any(String),
      ms: expect.any(Number),
      level: 'info',
      remoteAddress,
    }
    expect(await logged('GET /notes')).toMatchObject([
      { ...answered, method: 'GET', path: '/notes', operation: 'listNotes', status: 200 },
    ])
    const none = { ...answered, operation: 'none' } // as in the metrics
    const headers = { 'x-forwarded-for': '203.0.113.7' } // not believed
    expect(await logged('PATCH /nothing', { headers })).toMatchObject([
      { ...none, method: 'PATCH', path: '/…', status: 404 },
    ])
  })

  test.each([
    ...['a-b_c.d:e/f+g=h', 'x'.repeat(128)].map((id) => [id, id]),
    ...['', 'a b', 'ada@example.com', '"', 'ü', '{}', 'x'.repeat(129)].map((id) => [id, GENERATED]),
  ])('has the X-Request-Id %j if it is safe, else an id of its own', async (given, id) => {
    const headers = { 'x-request-id': Buffer.from(given as string).toString('latin1') }
    expect(await logged('GET /nothing', { headers })).toMatchObject([{ id }])
  })

  test('has a line for input that is not a request', async () => {
    service().lines.length = 0
    const text = await service().exchange('nonsense\r\n\r\n')
    expect(service().lines).toMatchObject([{ status: 400, code: 'HPE_INVALID_METHOD' }])
    expect(text).toContain(`X-Request-Id: ${String(service().lines[0]!['id'])}\r\n`)
  })
})
