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
  CLOSE,
  closesItsHalf,
  doesNotRead,
  get,
  goesOn,
  hangUp,
  heard,
  login,
  many,
  oversized,
  readsSlowly,
  says,
  slowBodies,
  slowHeaders,
  whole,
  type Hostile,
} from '../support/hostile.ts'
import {
  BODY_LIMIT,
  checkedFetch,
  dial,
  parseAnswers,
  tokens,
  useService,
  type Service,
} from '../support/service.ts'
import { sqlitePlace, useStore } from '../support/stores.ts'

/** Limits that do not take a minute. Node checks them once per interval. */
const SHORT = { headersTimeout: 500, requestTimeout: 800, connectionsCheckingInterval: 100 }

/** A list that does not end, how many of it are open, and how many were at once. */
const lists = { open: 0, most: 0 }
async function* endless() {
  lists.open += 1
  lists.most = Math.max(lists.most, lists.open)
  const users = [{ id: '0'.repeat(24), name: 'x'.repeat(50_000), email: '' }]
  try {
    for (;;) {
      yield [...users]
      await sleep(1)
    }
  } finally {
    lists.open -= 1
  }
}

const opened = useStore(sqlitePlace)
/** The store, but its list has no end. */
const store = (): UserStore => ({ ...opened(), list: endless })

/** A store that never finds a user, and never says so. */
const stuckStore = (): UserStore => ({ ...opened(), find: () => new Promise(() => {}) })

/** The limits as they are, and a list that has an end. */
const service = useService(() => ({
  ...opened(),
  async *list() {
    const users = [{ id: '0'.repeat(24), name: 'x'.repeat(1_000), email: '' }]
    for (let i = 0; i < 2_000; i += 1) {
      yield [...users]
      if (i % 100 === 0) await sleep(1) // as a store takes time: the client's end comes on the way
    }
  },
}))

afterEach(hangUp)

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

/** The statuses that the clients of a table get, `count` of each, all at once and amid ordinary requests. */
async function statusesOf(clients: Record<string, Hostile>, count: number, port = service().port) {
  const statuses = Object.entries(clients).map(async ([name, client]) => {
    const texts = await many(count, () => heard(client, port))
    return [name, [...new Set(texts.map((text) => text && answersIn(text).join()))].join(' or ')]
  })
  return Object.fromEntries(await amid(Promise.all(statuses), port)) as Record<string, string>
}
const allGet = (status: string, clients: object) =>
  Object.fromEntries(Object.keys(clients).map((name) => [name, status]))

test('each longer limit leaves time for the response of a shorter one', () => {
  const { headersTimeout, requestTimeout, connectionsCheckingInterval, timeout } = LIMITS
  expect(headersTimeout).toBeLessThanOrEqual(requestTimeout)
  expect(timeout).toBeGreaterThan(requestTimeout + 2 * connectionsCheckingInterval)
  expect(LIMITS.responseTimeout).toBeGreaterThan(timeout)
})

describe('slow clients', () => {
  const { requestTimeout } = LIMITS
  const forHeaders = useService(store, { ...SHORT, requestTimeout })
  const forBodies = useService(store, SHORT)
  const forSilence = useService(store, { ...SHORT, timeout: 500 })
  const forResponses = useService(store, { ...SHORT, responseTimeout: 2_500 })

  test('headers that do not end get 408', async () => {
    const statuses = await statusesOf(slowHeaders, 20, forHeaders().port)
    expect(statuses).toEqual(allGet('408', slowHeaders))
  })

  test('a body that does not end gets 408', async () => {
    const statuses = await statusesOf(slowBodies, 8, forBodies().port)
    expect(statuses).toEqual(allGet('408', slowBodies))
  })

  test('a client that stops reading or reads a little now and then is disconnected, and its list is closed', async () => {
    const attack = async (client: Hostile, { port, lines }: Service) => {
      const sockets = Array.from({ length: 5 }, () => client(port))
      const broken = () => lines.filter(({ msg }) => msg === 'response aborted')
      const areBroken = until(() => broken().length === 5)
      await amid(areBroken, port)
      const errors = sockets.map((socket) => new Promise((done) => socket.write('x', done)))
      // By a reset, so that a write fails; or the kernel would keep the unread part of the response.
      expect((await Promise.all(errors)).some(Boolean)).toBe(true)
    }
    await Promise.all([
      attack(doesNotRead(get('/users')), forSilence()),
      attack(readsSlowly(get('/users')), forResponses()),
    ])
    await until(() => lists.open === 0)
  })
})

test('what is too large is refused before it ends', async () => {
  expect(await statusesOf(oversized, 10)).toEqual({
    'a request line without end': '431',
    'headers without end': '431',
    'trailers without end': '431',
    'a chunk extension without end': '413',
  })
})

test('a body that is hard to parse is refused like any other', async () => {
  const clients = Object.entries(bodies).map(([name, body]) => [name, says(whole(body, CLOSE))])
  expect(await statusesOf(Object.fromEntries(clients), 2)).toEqual(allGet('400', bodies))
})

describe('connections', () => {
  const few = useService(store, { maxConnections: 20 })
  const stuck = useService(stuckStore, { maxConnections: 20 })
  const isOpen = ({ destroyed }: net.Socket) => !destroyed
  /** Resolves when there are no more connections than the limit, to those that are left. */
  async function left(sockets: net.Socket[]) {
    await amid(
      until(() => sockets.filter(isOpen).length <= 20),
      few().port,
    )
    return sockets.filter(isOpen)
  }

  test('that are idle make room for others, and none of these is refused', async () => {
    const sockets: net.Socket[] = []
    for (let i = 0; i < 60; i += 1) {
      sockets.push(says(get('/nothing'))(few().port))
      const [text] = (await once(sockets[i]!, 'data')) as [string]
      expect(answersIn(text)).toEqual([404])
    }
    await left(sockets)
  })

  test('that say nothing or do not end a body make room for others, the oldest first', async () => {
    for (const bytes of ['', `${login('Content-Length: 100\r\n')}{`]) {
      const sockets: net.Socket[] = []
      const arriving = (async () => {
        while (sockets.length < 60) {
          for (let i = 0; i < 5; i += 1) sockets.push(says(bytes)(few().port))
          await sleep(30) // meanwhile, ordinary clients use their connections
        }
      })()
      await amid(arriving, few().port)
      for (const socket of await left(sockets)) {
        expect(sockets.indexOf(socket)).toBeGreaterThanOrEqual(40)
      }
    }
  })

  const longBody = whole(`{"email":"none"${' '.repeat(50_000)}}`, CLOSE)
  test.each([
    ['are idle', ''],
    ['stop sending a body', longBody.subarray(0, 1_000)],
  ])('that %s make room before an upload that goes on', async (_, bytes) => {
    const upload = dial(few().port)
    const closed = once(upload.socket, 'close')
    for (let at = 0; at < longBody.length; at += 1_000) {
      upload.socket.write(longBody.subarray(at, at + 1_000))
      if (at > 10_000) says(bytes)(few().port)
      await sleep(10)
    }
    await closed
    expect(answersIn(upload.text())).toEqual([401])
  })

  test('whose requests wait for the service make room for others', async () => {
    const { port } = stuck()
    const hold = async () => {
      says(get('/users/x'))(port)
      await sleep(20)
    }
    for (let i = 0; i < 20; i += 1) await hold()
    for (let i = 0; i < 10; i += 1) {
      expect(answersIn(await heard(says(get('/nothing', CLOSE)), port))).toEqual([404])
      await hold()
    }
  })

  test('that are idle, hundreds of them, take nothing from others', async () => {
    const sockets: net.Socket[] = []
    const some = async () => {
      for (let i = 0; i < 15; i += 1) {
        const socket = says(get('/nothing'))(service().port)
        sockets.push(socket)
        await once(socket, 'data')
      }
    }
    await amid(many(20, some))
    expect(sockets.filter(isOpen)).toHaveLength(300)
  })
})

describe('a client that closes its half', () => {
  test('after its request gets the whole response, however long', async () => {
    const texts = await amid(many(5, () => heard(closesItsHalf(get('/users')), service().port)))
    for (const text of texts) {
      expect(text.split('"id"')).toHaveLength(2_001)
      expect(text).toMatch(/\]\r\n0\r\n\r\n$/)
    }
  })

  test('is not waited for, and gets the responses to its whole requests', async () => {
    const clients = {
      'after several requests': closesItsHalf(get('/users/x').repeat(10)),
      'within a body': closesItsHalf(`${login('Content-Length: 100\r\n')}{`),
      'within chunks': closesItsHalf(`${login('Transfer-Encoding: chunked\r\n')}5\r\n{`),
      'within headers': closesItsHalf('GET / HTTP/1.1\r\nHost:'),
      'at once': closesItsHalf(''),
    }
    expect(await statusesOf(clients, 10)).toEqual({
      'after several requests': Array(10).fill(404).join(),
      'within a body': '400',
      'within chunks': '400',
      'within headers': '400',
      'at once': '',
    })
  })
})

describe('pipelined requests', () => {
  /** How many requests have begun in this turn of the event loop, and the most so far. */
  const turns = { now: 0, most: 0 }
  const counting = useService(() => ({
    ...opened(),
    find(id) {
      turns.now += 1
      turns.most = Math.max(turns.most, turns.now)
      return opened().find(id)
    },
  }))

  test('no more than 64 requests begin in one turn of the event loop', async () => {
    const { port } = counting()
    const clients = await many(200, async () => {
      const client = dial(port)
      await once(client.socket, 'connect')
      return client
    })
    await sleep(100) // all are accepted
    let turning = setImmediate(function turn() {
      turns.now = 0
      turning = setImmediate(turn)
    })
    const closed = clients.map(({ socket }) => once(socket, 'close'))
    for (const { socket } of clients) socket.write(get('/users/x', CLOSE))
    await Promise.all(closed).finally(() => clearImmediate(turning))
    expect(clients.map(({ text }) => answersIn(text()).join())).toEqual(Array(200).fill('404'))
    expect(turns.most).toBe(64)
  })

  const patient = useService(store)
  const stuck = useService(stuckStore, { memory: 1_000_000, timeout: 0 })

  test('are served one at a time, in their order', async () => {
    lists.most = 0
    const { port } = patient()
    const socket = doesNotRead(get('/users').repeat(10))(port)
    await amid(sleep(300), port)
    expect(lists.most).toBe(1)
    socket.destroy()
    await until(() => lists.open === 0)
    const text = await service().exchange(get('/users/x').repeat(10) + get('/nothing', CLOSE))
    expect(parseAnswers(text).map(({ text }) => JSON.parse(text).message)).toEqual([
      ...Array(10).fill('no user has this id'),
      'there is nothing at this path',
    ])
  })

  test('that wait count for the budget, and are dropped when it is spent', async () => {
    const headers = Array.from({ length: 90 }, (_, i) => `a${i}: b\r\n`).join('')
    const sockets = await many(15, async () => says(get('/users/x'))(stuck().port))
    await sleep(100)
    for (const socket of sockets) socket.write(get('/users/x', headers).repeat(10))
    const open = () => sockets.filter(({ destroyed }) => !destroyed).length
    await until(() => open() <= 6)
    expect(open()).toBeGreaterThan(0)
  })

  test('close the connection when more than ten wait', async () => {
    const clients = { 'with twelve requests': says(get('/users/x').repeat(12)) }
    expect(await statusesOf(clients, 5)).toEqual({ 'with twelve requests': '' })
  })
})

test('a transfer coding other than chunked gets 400, and what follows it is not taken for a request', async () => {
  const email = `${randomUUID()}@example.com`
  const user = JSON.stringify({ email })
  const json = `Content-Type: application/json\r\nContent-Length: ${user.length}\r\n`
  const post = `POST /users HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}${json}\r\n${user}`
  const codings = {
    gzip: 'Transfer-Encoding: gzip, chunked\r\n',
    identity: 'Transfer-Encoding: identity, chunked\r\n',
    'in a line of its own': 'Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n',
  }
  const clients = Object.entries(codings).map(([name, headers]) => [
    name,
    says(`${login(headers)}2\r\n{}\r\n0\r\n\r\n${post}`),
  ])
  expect(await statusesOf(Object.fromEntries(clients), 1)).toEqual(allGet('400', codings))
  await sleep(100)
  expect(await opened().findByEmail(email)).toBeUndefined()
  await service().exchange(post.replace('Host', 'Connection: close\r\nHost'))
  expect(await opened().findByEmail(email)).toMatchObject({ email }) // it was a request
})

test('chunked in any letter case is accepted', async () => {
  const body = '10\r\n{"email":"none"}\r\n0\r\n\r\n'
  const text = await service().exchange(login(`Transfer-Encoding: Chunked\r\n${CLOSE}`) + body)
  expect(answersIn(text)).toEqual([401])
})

describe('headers', () => {
  const request = (headers: string) => says(get('/users/x', headers + CLOSE))

  test('are all read, up to 100; more get 431', async () => {
    const besides = get('/users/x', CLOSE).split('\r\n').length - 3 // without the request line and the end
    const more = (count: number) => 'a:\r\n'.repeat(count - besides)
    const clients = {
      'a hundred': request(more(100)),
      'a hundred, with a second host': request(`${more(99)}Host: y\r\n`),
      'a hundred and one': request(more(101)),
      'thousands, with a second host': request(`${more(3_000)}Host: y\r\n`),
    }
    expect(await statusesOf(clients, 1)).toEqual({
      'a hundred': '404',
      'a hundred, with a second host': '400',
      'a hundred and one': '431',
      'thousands, with a second host': '431',
    })
  })

  test.each(['\xff', '\xc3', '\xed\xa0\x80', '%ff', '%c3'])(
    'and paths with the broken UTF-8 %j do no harm',
    async (bytes) => {
      const headers = `X: ${bytes}\r\nX-Request-Id: ${bytes}\r\n${CLOSE}`
      const request = Buffer.from(get(`/users/${bytes}?${bytes}`, headers), 'latin1')
      const text = await service().exchange(request)
      expect([400, 404]).toContain(parseAnswers(text)[0]!.status)
    },
  )
})

test('a body that is compressed twice gets 415', async () => {
  const headers = `Content-Encoding: gzip, gzip\r\n${CLOSE}`
  const text = await service().exchange(whole(gzipSync(gzipSync('{}')), headers))
  expect(parseAnswers(text)).toMatchObject([{ status: 415 }])
})

test('large bodies that stall make room for others, the oldest first, and get 408', async () => {
  const large = whole(`{"email":"none"${' '.repeat(1_000_000)}}`, CLOSE)
  const { port } = service()
  let text = ''
  for (let i = 0; i < 80; i += 1) {
    says(large.subarray(0, 900_000))(port, (more) => (text += more))
  }
  await amid(until(() => parseAnswers(text).length >= 6))
  expect(new Set(answersIn(text))).toEqual(new Set([408]))
  expect(answersIn(await service().exchange(large))).toEqual([401])
})

test('a large body arrives whole beside clients that declare a megabyte and send a byte now and then', async () => {
  const head = login('Content-Length: 1000000\r\n') + ' '.repeat(5_000)
  const trickling = { over: false }
  const trickle = () => {
    if (!trickling.over) goesOn(head, ' ')(service().port).once('close', trickle)
  }
  for (let i = 0; i < 200; i += 1) trickle()
  const body = whole(`{"email":"none"${' '.repeat(300_000)}}`, CLOSE)
  const statuses = await many(5, async () => {
    const { socket, text } = dial(service().port)
    const closed = once(socket, 'close')
    for (let at = 0; at < body.length; at += 30_000) {
      socket.write(body.subarray(at, at + 30_000))
      await sleep(100)
    }
    await closed
    return answersIn(text())
  })
  trickling.over = true
  expect(new Set(statuses.flat())).toEqual(new Set([401]))
})

const impatient = useService(opened, { responseTimeout: 400, connectionsCheckingInterval: 1 })

test('a request that has not begun has not taken too long', async () => {
  const clients = Array.from({ length: 600 }, () => dial(impatient().port))
  await sleep(500)
  const ends = clients.map(({ socket }) => once(socket, 'close'))
  for (const { socket } of clients) socket.write(get('/nothing', CLOSE))
  await Promise.all(ends)
  expect(clients.filter(({ text }) => text() === '')).toEqual([])
})

const small = useService(opened, {
  memory: 4_000_000,
  begun: 2_000_000,
  requestTimeout: 0,
  timeout: 0,
})
const largeBody = whole(`{"email":"none"${' '.repeat(500_000)}}`, CLOSE)

const slow = useService(opened, { memory: 14_000_000, begun: 7_000_000, requestsPerTurn: 1 })

test('of more bodies than there is memory for, each gets a response', async () => {
  const body = whole(`{"email":"none"${' '.repeat(100_000)}}`, CLOSE)
  const texts = Array<string>(200).fill('')
  const sockets = texts.map((_, i) => says('')(slow().port, (more) => (texts[i] += more)))
  await sleep(200) // all are accepted
  const ends = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
  for (const socket of sockets) socket.write(body)
  await Promise.all(ends)
  expect(new Set(texts.map((text) => answersIn(text).join()))).toEqual(new Set(['401', '408']))
})

test('clients that leave before their response is ready leave nothing behind', async () => {
  const { id } = await opened().create({ name: 'x'.repeat(1_000_000), email: '' })
  const leaves = says(get(`/users/${id}`))
  for (let i = 0; i < 20; i += 1) {
    const sockets = await many(10, async () => leaves(small().port))
    await sleep(i * 5)
    for (const socket of sockets) socket.resetAndDestroy()
  }
  expect(answersIn(await small().exchange(largeBody))).toEqual([401])
  expect((await small().send('GET /users?limit=1')).status).toBe(200)
  await opened().remove(id)
})

test('clients with many headers and an unfinished body leave the room to bodies and lists', async () => {
  const headers = Array.from({ length: 90 }, (_, i) => `a${i}: b\r\n`).join('')
  const unfinished = says(`${login(`Content-Length: 20\r\n${headers}`)}{`)
  const before = small().lines.length
  const sockets = await many(100, async () => unfinished(small().port))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  expect(answersIn(await small().exchange(largeBody))).toEqual([401])
  expect((await small().send('GET /users?limit=1')).status).toBe(200)
  expect(small().lines.slice(before)).not.toContainEqual(expect.objectContaining({ level: 50 }))
})

const patient = useService(store, { requestTimeout: 0, timeout: 0 })

test('the rest of a body that nobody reads is dropped only for a moment', async () => {
  const endless = goesOn(
    'GET /nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n',
    '1\r\na\r\n',
  )
  expect(answersIn(await heard(endless, patient().port))).toEqual([404])
})

test('a compressed body that is broken after the limit does no harm', async () => {
  const broken = [1, 16_384, 16_385, 20_000, 40_000, 200_000].map((more) => {
    const spaces = Buffer.alloc(BODY_LIMIT + more, ' ')
    const packed = deflateRawSync(spaces, { finishFlush: constants.Z_SYNC_FLUSH })
    return Buffer.concat([packed, Buffer.from('07ffffff', 'hex')])
  })
  const codings = { gzip: '1f8b0800000000000003', deflate: '789c' }
  const texts = Object.entries(codings).flatMap(([coding, head]) =>
    broken.map((bytes) => {
      const body = Buffer.concat([Buffer.from(head, 'hex'), bytes])
      return service().exchange(whole(body, `Content-Encoding: ${coding}\r\n${CLOSE}`))
    }),
  )
  for (const text of await amid(Promise.all(texts))) {
    expect(['400', '413']).toContain(answersIn(text).join())
  }
})
