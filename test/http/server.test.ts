// What happens below the app: the requests that Node's parser rejects, and the log line of each.
import { describe, expect, test } from '@jest/globals'
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { UserStore } from '../../src/store/user-store.ts'
import { expectContract } from '../support/contract.ts'
import { IMPATIENT, dial, parseAnswers, tokens, useService } from '../support/service.ts'
import { sqlitePlace, useStore } from '../support/stores.ts'
import { newUser } from '../support/users.ts'

const opened = useStore(sqlitePlace)

/** The store; it takes its time for a user named `slow`. */
const slow = (): UserStore => ({
  ...opened(),
  async create(user) {
    if (user.name === 'slow') await sleep(150)
    return opened().create(user)
  },
})
const service = useService(slow)
const impatient = useService(slow, IMPATIENT)
const AUTHORIZATION = `Authorization: Bearer ${tokens.issue('665f1c2e8b3f4a0012d4c001')}\r\n`
const post = (body: string, headers = `Content-Length: ${Buffer.byteLength(body)}\r\n`) =>
  `POST /users HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}Content-Type: application/json\r\n${headers}\r\n${body}`

/** The answers, each held against the contract: a 201 is one of POST /users, others are of `request`, if any. */
const answersIn = (text: string, request = '') =>
  parseAnswers(text).map((answer) => {
    const [method = '', path = ''] = (answer.status === 201 ? 'POST /users' : request).split(' ')
    return { ...answer, json: expectContract(method, path, answer) as { name?: string } }
  })
const statusesOf = (text: string, request?: string) =>
  answersIn(text, request).map(({ status }) => status)

test.each([
  ['without a token', `Authorization: x\r\n`, 401],
  ['of another media type', `${AUTHORIZATION}Content-Type: text/plain\r\n`, 415],
  ['that is too large', `${AUTHORIZATION}Content-Type: application/json\r\n`, 413],
])('a body %s gets its status at once, not 100 (RFC 9110 §10.1.1)', async (_, headers, status) => {
  const length = `Expect: 100-continue\r\nContent-Length: 3000000\r\n`
  const text = await service().exchange(
    `POST /users HTTP/1.1\r\nHost: localhost\r\n${headers}${length}\r\n`,
  )
  expect(statusesOf(text, 'POST /users')).toEqual([status])
})

test('input that is not a request gets a response with a Date', async () => {
  const [response] = answersIn(await service().exchange('nonsense\r\n\r\n'))
  expect(Date.parse(response!.headers.date!)).toBeGreaterThan(0)
})

test.each(['GET /users HTTP/2.0', 'GET /users HTTP/0.9'])('%s is refused', async (line) => {
  expect(statusesOf(await service().exchange(`${line}\r\nHost: localhost\r\n\r\n`))).toEqual([400])
})

test('HTTP/1.0 with a transfer coding is refused, and its connection closed', async () => {
  const head =
    'POST /login HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n'
  expect(statusesOf(await service().exchange(`${head}0\r\n\r\n`))).toEqual([400])
})

test('every response forbids sniffing, and no cache keeps a user', async () => {
  const { headers } = await service().send('GET /users')
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-cache',
  })
  const refused = await service().send('GET /users', { authorization: undefined })
  expect(refused.headers['cache-control']).toBe('private, no-cache')
  const login = await service().send('POST /login', { json: { email: 'x' } })
  expect(login.headers['cache-control']).toBe('no-store')
})

test('the log says who created and who deleted a user', async () => {
  const { json } = await service().send('POST /users', { json: newUser() })
  await service().send(`DELETE /users/${json.id}`)
  const [created, deleted] = service().lines.slice(-2)
  const caller = '665f1c2e8b3f4a0012d4c001'
  expect(created).toMatchObject({ method: 'POST', user: caller, location: `/users/${json.id}` })
  expect(deleted).toMatchObject({ method: 'DELETE', user: caller, path: `/users/${json.id}` })
})

describe('input that is not a request', () => {
  const HOST = 'HTTP/1.1\r\nHost: localhost\r\n'
  const LONG = 'x'.repeat(20_000)
  const CHUNKED = 'Transfer-Encoding: chunked\r\n'
  const messages = {
    400: 'the request is not valid HTTP',
    413: 'the body is too large',
    431: 'the headers are too large',
  }
  test.each<[string, string, keyof typeof messages]>([
    ['garbage', 'nonsense\r\n\r\n', 400],
    ['an unknown version', 'GET / HTTP/9.9\r\nHost: localhost\r\n\r\n', 400],
    ['a space in the path', `GET /a b ${HOST}\r\n`, 400],
    ['a space before a colon', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n', 400],
    ['no host', 'GET /users HTTP/1.1\r\n\r\n', 400],
    ['two lengths', `POST /login ${HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`, 400],
    ['a length and chunks', `POST /login ${HOST}Content-Length: 1\r\n${CHUNKED}\r\n0\r\n\r\n`, 400],
    ['large headers', `GET / ${HOST}X: ${LONG}\r\n\r\n`, 431],
    ['a long path', `GET /${LONG} ${HOST}\r\n`, 431],
    ['long chunk extensions', post(`1;${LONG}\r\n`, CHUNKED), 413],
    ['a broken chunk', post('zz\r\n', CHUNKED), 400],
  ])('%s gets a response in the usual form, and the connection ends', async (_, bytes, status) => {
    expect(answersIn(await service().exchange(bytes))).toMatchObject([
      { status, headers: { connection: 'close' }, json: { message: messages[status] } },
    ])
  })

  test('headers that are too slow get 408', async () => {
    const text = await impatient().exchange('GET / HTTP/1.1\r\nHost: localhost\r\n')
    expect(statusesOf(text)).toEqual([408])
  })

  test('garbage after a request does not replace the response to the request', async () => {
    const text = await service().exchange(`${post('{"name":"slow"}')}nonsense\r\n\r\n`)
    expect(statusesOf(text)).toEqual([201, 400])
  })

  test('what comes after the garbage does not replace the response either', async () => {
    const { socket, text } = dial(service().port)
    const broken =
      'POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'
    socket.write(post('{"name":"slow"}') + broken)
    await sleep(50)
    socket.write('more')
    await once(socket, 'close')
    expect(statusesOf(text())).toEqual([201, 400])
  })

  test('a broken body of a refused request does not get a second response', async () => {
    const head = 'POST /users HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
    const { socket, text } = dial(service().port)
    socket.write(head)
    await once(socket, 'data')
    socket.write('zz\r\n')
    await once(socket, 'close')
    expect(statusesOf(text())).toEqual([401])
  })
})

test.each([
  ['two hosts', 'Host: a\r\nHost: b\r\n'],
  ['a space in the host', 'Host: a b\r\n'],
  ['a path in the host', 'Host: a/users\r\n'],
  ['a user in the host', 'Host: a@b\r\n'],
])('%s get 400', async (_, host) => {
  const bytes = `GET /nothing HTTP/1.1\r\n${host}\r\n`
  expect(statusesOf(await service().exchange(bytes))).toEqual([400])
})

test.each(['example.com', 'example.com:80', '[::1]:3000', ''])(
  'the host may be "%s"',
  async (host) => {
    const bytes = `GET /nothing HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    expect(statusesOf(await service().exchange(bytes))).toEqual([404])
  },
)

test('an offer to upgrade is ignored, and what follows it is not taken for a request', async () => {
  const upgrade = 'Host: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'
  const { socket, text } = dial(service().port)
  socket.write(
    `GET /nothing HTTP/1.1\r\n${upgrade}POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 36\r\n\r\n`,
  )
  socket.write('DELETE /users/x HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(socket, 'close')
  expect(answersIn(text())).toMatchObject([{ status: 404, headers: { connection: 'close' } }])
})

test.each(['2000000', '2147483648', '4294967296', '999999999999999'])(
  'a body of %s bytes is refused before it arrives',
  async (length) => {
    const headers = `Content-Length: ${length}\r\nConnection: close\r\n`
    const text = await service().exchange(post('{}', headers))
    expect(statusesOf(text, 'POST /users')).toEqual([413])
  },
)

describe('a method that Node does not know', () => {
  const brew = (line: string, headers = '') =>
    service().exchange(`${line} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`)

  test.each(['BREW', 'brew', 'M-SEARCH-2', 'PRI'])(
    '%s gets 405, after the guard',
    async (method) => {
      expect(await brew(`${method} /login`)).toMatch(
        /^HTTP\/1.1 405 [^]*Allow: POST\r\n[^]*"message":"/,
      )
      expect(statusesOf(await brew(`${method} /users`))).toEqual([401])
      const allowed = answersIn(await brew(`${method} /users`, AUTHORIZATION), 'BREW /users')
      expect(allowed).toMatchObject([{ status: 405, headers: { allow: 'HEAD, GET, POST' } }])
      expect(statusesOf(await brew(`${method} /nothing`))).toEqual([404])
    },
  )

  test('has no body, and what follows it is not taken for a request', async () => {
    const login = 'POST /login HTTP/1.1\r\nHost: localhost\r\n\r\n'
    expect(statusesOf(await brew('BREW /nothing', `Content-Length: 40\r\n\r\n${login}`))).toEqual([
      404,
    ])
  })

  test('does not replace the response to the request before it', async () => {
    const text = await service().exchange(
      `${post('{"name":"slow"}')}BREW /login HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    )
    expect(statusesOf(text)).toEqual([201, 400])
  })

  test.each([
    'BREW /login HTTP/1.1\r\nHost\r\n\r\n',
    'BREW /a b HTTP/1.1\r\nHost: localhost\r\n\r\n',
    'BR@W /login HTTP/1.1\r\nHost: localhost\r\n\r\n',
  ])('gets 400 when its head is not valid: %j', async (bytes) =>
    expect(statusesOf(await service().exchange(bytes))).toEqual([400]),
  )

  test.each(['get', 'Get', 'pOST'])(
    'is not a known method in another letter case: %s',
    async (method) => {
      expect(statusesOf(await brew(`${method} /users`, AUTHORIZATION))).toEqual([400])
    },
  )

  test('needs a valid host, too', async () => {
    expect(statusesOf(await service().exchange('BREW /login HTTP/1.1\r\n\r\n'))).toEqual([400])
  })
})

describe('CONNECT', () => {
  const CONNECT = 'CONNECT /login HTTP/1.1\r\nHost: localhost\r\n\r\n'

  test('does no harm when its client resets the connection', async () => {
    for (let i = 0; i < 5; i += 1) {
      const socket = net.connect(service().port, '127.0.0.1')
      socket.write(CONNECT)
      await once(socket, 'connect')
      socket.resetAndDestroy()
      await once(socket, 'close')
    }
    expect((await service().send('GET /nothing')).status).toBe(404)
  })

  test('after an unfinished request breaks the connection, as Node does by default', async () => {
    expect(await service().exchange(post('{"name":"slow"}') + CONNECT)).toBe('')
    await service().exchange(`GET / HTTP/1.1\r\n\r\n${CONNECT}`)
    expect((await service().send('GET /nothing')).status).toBe(404)
  })

  test('after a finished request gets a response', async () => {
    const { socket, text } = dial(service().port)
    socket.write('GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await once(socket, 'data')
    socket.write(CONNECT)
    await once(socket, 'close')
    expect(statusesOf(text(), 'CONNECT /login')).toEqual([404, 405])
  })

  test('ends the connection, even of a client that does not', async () => {
    await expect(letGo(CONNECT)).resolves.toBeUndefined()
  })
})

test('garbage ends the connection, even of a client that does not', async () => {
  await expect(letGo('nonsense\r\n\r\n')).resolves.toBeUndefined()
})

/** Resolves once the service gives the connection up, though the client keeps its half open. */
async function letGo(bytes: string): Promise<void> {
  const socket = net.connect({ port: service().port, host: '127.0.0.1', allowHalfOpen: true })
  const reset = once(socket, 'error')
  socket.resume()
  socket.write(bytes)
  await once(socket, 'end')
  const poke = setInterval(() => socket.write('x'), 100)
  await reset
  clearInterval(poke)
}

test('HTTP/1.0 needs no host', async () => {
  expect(statusesOf(await service().exchange('GET /nothing HTTP/1.0\r\n\r\n'))).toEqual([404])
})

test('an expectation other than 100-continue is ignored', async () => {
  const bytes =
    'GET /nothing HTTP/1.1\r\nHost: localhost\r\nExpect: wonders\r\nConnection: close\r\n\r\n'
  expect(statusesOf(await service().exchange(bytes))).toEqual([404])
})

test('100 Continue is sent before the body arrives', async () => {
  const headers = 'Expect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n'
  const text = await service().exchange(post('{}', headers))
  expect(text).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 201 /)
})

test('a header with the value Host is not a host', async () => {
  const text = 'GET /nothing HTTP/1.1\r\nHost: localhost\r\nX: Host\r\nConnection: close\r\n\r\n'
  expect(statusesOf(await service().exchange(text), 'GET /nothing')).toEqual([404])
})

test('pipelined requests get their responses in order', async () => {
  const last = post('{"name":"b"}', 'Content-Length: 12\r\nConnection: close\r\n')
  const answers = answersIn(await service().exchange(post('{"name":"slow"}') + last))
  expect(answers.map(({ json }) => json.name)).toEqual(['slow', 'b'])
})

test('a client that is still sending too large a body gets to read its 413', async () => {
  const body = Buffer.alloc(5 * 1024 * 1024, 'x')
  const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
  expect((await service().send('POST /users', { body, headers })).status).toBe(413)
})

describe('the log', () => {
  /** The lines of a request. Their id is in its response, too. */
  const logged = async (line: string, request?: object) => {
    service().lines.length = 0
    const { headers } = await service().send(line, request)
    while (service().lines.length === 0) await sleep(5)
    expect(service().lines[0]!['id']).toBe(headers['x-request-id'])
    return service().lines
  }

  test('has a line for each request, with its id, method, path, status and time', async () => {
    const answered = { id: expect.any(String), ms: expect.any(Number), level: 30 }
    expect(await logged('GET /users?email=ada@example.com')).toMatchObject([
      { ...answered, method: 'GET', path: '/users', status: 200 },
    ])
    expect(await logged('GET /users', { authorization: 'Bearer x' })).toMatchObject([
      { ...answered, method: 'GET', path: '/users', status: 401 },
    ])
    expect(await logged('PATCH /nothing')).toMatchObject([
      { ...answered, method: 'PATCH', path: '/nothing', status: 404 },
    ])
  })

  test.each(['abc', 'a-b_c.d:e/f+g=h@i', 'x'.repeat(128)])(
    'accepts X-Request-Id %s',
    async (id) => {
      expect(await logged('GET /users', { headers: { 'x-request-id': id } })).toMatchObject([
        { id },
      ])
    },
  )

  test.each(['', 'a b', '"', 'ü', '{}', 'x'.repeat(129)])(
    'makes an id of its own instead of X-Request-Id %j',
    async (id) => {
      const headers = { 'x-request-id': Buffer.from(id).toString('latin1') }
      expect(await logged('GET /nothing', { headers })).toMatchObject([
        { id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      ])
    },
  )

  test.each([
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '0af7651916cd43dd8448eb211c80319c'],
    [
      '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x',
      '0af7651916cd43dd8448eb211c80319c',
    ],
    ['ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', undefined],
    ['00-00000000000000000000000000000000-b7ad6b7169203331-01', undefined],
    ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', undefined],
    ['00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01', undefined],
    ['nonsense', undefined],
  ])('has the trace of traceparent %s', async (traceparent, trace) => {
    const [line] = await logged('GET /nothing', { headers: { traceparent } })
    expect(line!['trace_id']).toBe(trace)
  })

  test('says why a token was refused', async () => {
    const [line] = await logged('GET /users', { authorization: undefined })
    expect(line).toMatchObject({ status: 401, refused: 'missing' })
  })

  test('has a line for input that is not a request', async () => {
    service().lines.length = 0
    const text = await service().exchange('nonsense\r\n\r\n')
    expect(service().lines).toMatchObject([{ status: 400, code: 'HPE_INVALID_METHOD' }])
    expect(text).toContain(`X-Request-Id: ${String(service().lines[0]!['id'])}\r\n`)
  })

  test('never has a token or a body in it', async () => {
    const user = { name: 'secret-name', email: 'secret-email' }
    const broken = { body: '{"secret', headers: { 'content-type': 'application/json' } }
    const lines = [
      ...(await logged('POST /users', { json: user })),
      ...(await logged('POST /users', { json: user })),
      ...(await logged('POST /login', { json: { email: user.email } })),
      ...(await logged('POST /login', broken)),
      ...(await logged('GET /users', { authorization: 'Bearer secret-token' })),
    ]
    expect(lines).toHaveLength(5)
    expect(JSON.stringify(lines)).not.toMatch(/secret|eyJ/)
  })
})
