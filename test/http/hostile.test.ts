// Hostile clients over bare sockets: each kind meets a bound, and meanwhile ordinary requests are
// answered. (What is no request at all is in server.test.ts.)
import { afterEach, describe, expect, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { constants, deflateRawSync, gzipSync } from 'node:zlib'
import { createUsersClient } from '../../src/client/client.ts'
import { LIMITS } from '../../src/http/limits.ts'
import type { UserStore } from '../../src/store/user-store.ts'
import { expectContract } from '../support/contract.ts'
import {
  AUTHORIZATION,
  bodies,
  closesItsHalf,
  doesNotRead,
  get,
  login,
  oversized,
  readsSlowly,
  says,
  slowBodies,
  slowHeaders,
  whole,
  type Hostile,
} from '../support/hostile.ts'
import { BODY_LIMIT, checkedFetch, parseAnswers, tokens, useService } from '../support/service.ts'
import { sqlitePlace, useStore } from '../support/stores.ts'

/** Bounds that do not take a minute; Node looks at those of requests ten times a second. */
const SHORT = {
  headersTimeout: 500,
  requestTimeout: 1_000,
  connectionsCheckingInterval: 100,
  timeout: 1_500,
  responseTimeout: 2_500,
}

/** A list that does not end, how many of it are open, and how many were at once. */
const lists = { open: 0, most: 0 }
async function* endless() {
  lists.open += 1
  lists.most = Math.max(lists.most, lists.open)
  const users = [{ id: '0'.repeat(24), name: 'x'.repeat(50_000), email: '' }]
  try {
    for (;;) {
      yield users
      await sleep(1)
    }
  } finally {
    lists.open -= 1
  }
}

const opened = useStore(sqlitePlace)
/** The store, but its list has no end. */
const store = (): UserStore => ({ ...opened(), list: endless })
const slow = useService(store, SHORT)

/** The bounds as they are, and a list that has an end. */
const service = useService(() => ({
  ...opened(),
  async *list() {
    const users = [{ id: '0'.repeat(24), name: 'x'.repeat(1_000), email: '' }]
    for (let i = 0; i < 2_000; i += 1) {
      yield users
      if (i % 100 === 0) await sleep(1) // as a store takes time: the client's end comes on the way
    }
  },
}))

/** What a client has heard once its connection has ended. */
async function heard(client: Hostile, port = service().port): Promise<string> {
  let text = ''
  const socket = client(port, (more) => (text += more))
  open.add(socket)
  await closed(socket)
  return text
}
const open = new Set<net.Socket>()
/** Resolves to whether it broke. */
const closed = (socket: net.Socket) =>
  new Promise<boolean>((resolve) => socket.once('close', resolve))
afterEach(() => {
  for (const socket of open) socket.destroy()
  open.clear()
})

const answersIn = (text: string) =>
  parseAnswers(text).map((answer) => {
    expectContract('', '', answer)
    return answer.status
  })

/** Awaits what is hostile, and makes ordinary requests until then: each is answered as ever. */
async function amid<T>(hostile: Promise<T>, port = service().port): Promise<T> {
  const baseUrl = `http://127.0.0.1:${port}`
  const users = createUsersClient({ baseUrl, token: tokens.issue('x'), fetch: checkedFetch })
  const hostileIs = { over: false }
  const end = hostile.finally(() => (hostileIs.over = true))
  const ordinary = (async () => {
    do {
      const body = { name: 'Ada', email: `ada-${randomUUID()}@example.com` }
      const { data: ada } = await users.POST('/users', { body })
      const params = { path: { id: ada!.id } }
      expect((await users.GET('/users/{id}', { params })).data).toEqual(ada)
      expect((await users.POST('/login', { body })).response.status).toBe(200)
      expect((await users.DELETE('/users/{id}', { params })).response.status).toBe(204)
      await sleep(20)
    } while (!hostileIs.over)
  })()
  const [result] = await Promise.all([end, ordinary])
  return result
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10)
}

/** As many clients as `count`, all at once. */
const many = <T>(count: number, one: () => Promise<T>) =>
  Promise.all(Array.from({ length: count }, one))

test('each longer limit leaves time for the response of a shorter one', () => {
  const { headersTimeout, requestTimeout, connectionsCheckingInterval, timeout } = LIMITS
  expect(headersTimeout).toBeLessThanOrEqual(requestTimeout)
  expect(timeout).toBeGreaterThan(requestTimeout + 2 * connectionsCheckingInterval)
  expect(LIMITS.responseTimeout).toBeGreaterThan(timeout)
})

describe('headers that do not end get 408:', () => {
  const { headersTimeout, connectionsCheckingInterval } = SHORT
  const short = useService(store, { headersTimeout, connectionsCheckingInterval })
  test.each(Object.entries(slowHeaders))('of a client that %s', async (_, client) => {
    const { port } = short()
    const texts = await amid(
      many(20, () => heard(client, port)),
      port,
    )
    for (const text of texts) expect(answersIn(text)).toEqual([408])
  })
})

describe('a body that does not end gets 408:', () => {
  test.each(Object.entries(slowBodies))('of a client that %s', async (_, client) => {
    const { port } = slow()
    const texts = await amid(
      many(8, () => heard(client, port)),
      port,
    )
    for (const text of texts) expect(answersIn(text)).toEqual([408])
  })
})

describe('what is too large is refused before it ends:', () => {
  test.each(Object.entries(oversized))('%s', async (_, [client, status]) => {
    const texts = await amid(many(10, () => heard(client)))
    for (const text of texts) expect(answersIn(text)).toEqual([status])
  })
})

describe('a client that takes its time to read a response', () => {
  const { timeout, responseTimeout } = LIMITS
  test.each([
    [
      'and stops reading is disconnected',
      doesNotRead,
      useService(store, { ...SHORT, responseTimeout }),
    ],
    [
      'and reads a little now and then is disconnected, too',
      readsSlowly,
      useService(store, { ...SHORT, timeout }),
    ],
  ])('%s, and its list is closed', async (_, reads, patient) => {
    const { port, lines } = patient()
    const sockets = Array.from({ length: 5 }, () => reads(get('/users'))(port))
    for (const socket of sockets) open.add(socket)
    const ends = Promise.all(sockets.map(closed))
    const broken = () => lines.filter(({ msg }) => msg === 'response aborted')
    await amid(
      until(() => broken().length === 5 && lists.open === 0),
      port,
    )
    // By a reset, or the kernel would keep what is left of the answer. Who reads is told, if something is left.
    expect(reads === doesNotRead || (await ends).includes(true)).toBe(true)
  })
})

const few = useService(store, {
  maxConnections: 20,
  headersTimeout: 1_500,
  connectionsCheckingInterval: 100,
})

describe('connections', () => {
  test('that are idle make room for others, and none of these is refused', async () => {
    const sockets: net.Socket[] = []
    for (let i = 0; i < 100; i += 1) {
      const socket = says(get('/nothing'))(few().port)
      sockets.push(socket)
      open.add(socket)
      const [text] = (await once(socket, 'data')) as [string]
      expect(answersIn(text)).toEqual([404])
    }
    expect(sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(20)
    await amid(Promise.resolve(), few().port)
  })

  test('that say nothing make room for others, and are never more than the limit', async () => {
    const { port } = few()
    const muted = Array.from({ length: 200 }, () => says('')(port))
    for (const socket of muted) open.add(socket)
    await amid(sleep(500), port)
    expect(muted.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(20)
  })

  const EACH = 25
  test('that are idle, hundreds of them, take nothing from others', async () => {
    const some = async () => {
      for (let i = 0; i < EACH; i += 1) {
        const socket = says(get('/nothing'))(service().port)
        open.add(socket)
        await once(socket, 'data')
      }
    }
    await amid(many(20, some))
    expect([...open].filter(({ destroyed }) => !destroyed)).toHaveLength(20 * EACH)
  })
})

test('connections with an unfinished body make room for others, the oldest first', async () => {
  const { port } = few()
  const body = says(login('Content-Length: 100\r\n') + '{')
  const unfinished = Array.from({ length: 60 }, () => body(port))
  for (const socket of unfinished) open.add(socket)
  await amid(sleep(300), port)
  const left = unfinished.filter(({ destroyed }) => !destroyed)
  expect(left.length).toBeLessThanOrEqual(20)
  expect(left.every((socket) => unfinished.indexOf(socket) >= 40)).toBe(true)
})

describe('a client that closes its half', () => {
  test('after its request gets the whole response, however long', async () => {
    const texts = await amid(many(5, () => heard(closesItsHalf(get('/users')))))
    for (const text of texts) {
      expect(text.split('"id"')).toHaveLength(2_001)
      expect(text).toMatch(/\]\r\n0\r\n\r\n$/)
    }
  })

  test('after several requests gets all responses', async () => {
    const text = await heard(closesItsHalf(get('/users/x').repeat(10)))
    expect(parseAnswers(text).map(({ status }) => status)).toEqual(Array(10).fill(404))
  })

  test.each([
    ['within a body', `${login('Content-Length: 100\r\n')}{`, [400]],
    ['within chunks', `${login('Transfer-Encoding: chunked\r\n')}5\r\n{`, [400]],
    ['within headers', 'GET / HTTP/1.1\r\nHost:', [400]],
    ['at once', '', []],
  ])('%s is not waited for', async (_, bytes, statuses) => {
    const texts = await amid(many(10, () => heard(closesItsHalf(bytes))))
    for (const text of texts) expect(answersIn(text || 'HTTP/1.1 100')).toEqual(statuses)
  })
})

describe('pipelined requests', () => {
  const patient = useService(store)

  test('are served one at a time, in their order', async () => {
    lists.most = 0
    const { port } = patient()
    const socket = doesNotRead(get('/users').repeat(10))(port)
    await amid(sleep(500), port)
    expect(lists.most).toBe(1)
    socket.destroy()
    await until(() => lists.open === 0)
    const text = await heard(
      says(get('/users/x').repeat(10) + get('/nothing', 'Connection: close\r\n')),
    )
    expect(parseAnswers(text).map(({ text }) => JSON.parse(text).message)).toEqual([
      ...Array(10).fill('no user has this id'),
      'there is nothing at this path',
    ])
  })

  test('close the connection when more than ten wait', async () => {
    const texts = await amid(many(5, () => heard(says(get('/users/x').repeat(12)))))
    for (const text of texts) expect(text).toBe('')
  })
})

describe('a transfer coding other than chunked gets 400, and what follows it is not taken for a request:', () => {
  test.each([
    ['gzip', 'Transfer-Encoding: gzip, chunked\r\n'],
    ['identity', 'Transfer-Encoding: identity, chunked\r\n'],
    ['in a line of its own', 'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n'],
  ])('%s', async (_, headers) => {
    const email = `${randomUUID()}@example.com`
    const user = JSON.stringify({ email })
    const json = `Content-Type: application/json\r\nContent-Length: ${user.length}\r\n`
    const post = `POST /users HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}${json}\r\n${user}`
    const bytes = `${login(headers)}2\r\n{}\r\n0\r\n\r\n${post}`
    expect(answersIn(await heard(says(bytes)))).toEqual([400])
    await sleep(100)
    expect(await opened().findByEmail(email)).toBeUndefined()
    await heard(says(post.replace('Host', 'Connection: close\r\nHost')))
    expect(await opened().findByEmail(email)).toMatchObject({ email }) // it was a request
  })

  test('chunked in any letter case is accepted', async () => {
    const headers = 'Transfer-Encoding: Chunked\r\nConnection: close\r\n'
    const text = await heard(
      says(`${login(headers)}f\r\n{"email":"none"}\r\n0\r\n\r\n`.replace('f\r', '10\r')),
    )
    expect(parseAnswers(text)).toMatchObject([{ status: 401 }])
  })
})

describe('headers', () => {
  const close = 'Connection: close\r\n'
  const request = (headers: string) =>
    `GET /users/x HTTP/1.1\r\nHost: localhost\r\n${headers}${close}\r\n`
  const statuses = async (headers: string) =>
    parseAnswers(await heard(says(request(headers)))).map(({ status }) => status)

  test('are all read, however many', async () => {
    expect(await statuses('a:\r\n'.repeat(3_000) + AUTHORIZATION)).toEqual([404])
    expect(await statuses(`${'a:\r\n'.repeat(3_000)}Host: y\r\n`)).toEqual([400])
  })

  test.each(['\xff', '\xc3', '\xed\xa0\x80', '%ff', '%c3'])(
    'and paths with the broken UTF-8 %j do no harm',
    async (bytes) => {
      const bare = `X: ${bytes}\r\nX-Request-Id: ${bytes}\r\n${AUTHORIZATION}`
      const line = `GET /users/${bytes}?${bytes} HTTP/1.1\r\nHost: localhost\r\n`
      const text = await heard(says(Buffer.from(`${line}${bare}${close}\r\n`, 'latin1')))
      expect([400, 404]).toContain(parseAnswers(text)[0]!.status)
    },
  )
})

describe('a body that is hard to parse is refused like any other:', () => {
  test.each(Object.entries(bodies))('%s', async (name, body) => {
    const request = whole(body, 'Connection: close\r\n')
    const texts = await amid(many(5, () => heard(says(request))))
    for (const text of texts) expect(answersIn(text)).toEqual([400])
    expect(name).not.toBe('')
  })
})

test('a body that is compressed twice gets 415', async () => {
  const headers = 'Content-Encoding: gzip, gzip\r\nConnection: close\r\n'
  const text = await heard(says(whole(gzipSync(gzipSync('{}')), headers)))
  expect(parseAnswers(text)).toMatchObject([{ status: 415 }])
})

test('large bodies that stall make room for others, the oldest first, and get 408', async () => {
  const { port } = service()
  const large = whole(`{"email":"none"${' '.repeat(1_000_000)}}`, 'Connection: close\r\n')
  let text = ''
  for (let i = 0; i < 90; i += 1) {
    const socket = says(large.subarray(0, 900_000))(port, (more) => (text += more))
    open.add(socket)
  }
  await amid(until(() => parseAnswers(text).length >= 26))
  expect(new Set(parseAnswers(text).map(({ status }) => status))).toEqual(new Set([408]))
  expect(parseAnswers(await heard(says(large), port))).toMatchObject([{ status: 401 }])
})

test.each(['gzip', 'deflate'])(
  'a body of %s that is broken after the limit does no harm',
  async (coding) => {
    const head = coding === 'gzip' ? '1f8b0800000000000003' : '789c'
    for (const more of [1, 16_384, 16_385, 20_000, 40_000, 200_000]) {
      const spaces = Buffer.alloc(BODY_LIMIT + more, ' ')
      const packed = deflateRawSync(spaces, { finishFlush: constants.Z_SYNC_FLUSH })
      const bytes = Buffer.concat([
        Buffer.from(head, 'hex'),
        packed,
        Buffer.from('07ffffff', 'hex'),
      ])
      const headers = `Content-Encoding: ${coding}\r\nConnection: close\r\n`
      const [status] = answersIn(await heard(says(whole(bytes, headers))))
      expect([400, 413]).toContain(status)
    }
    await amid(sleep(100))
  },
)
