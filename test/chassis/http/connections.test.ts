// Places: a connection has one until it is closed and its handler has ended. Who gets one when there are too many.
import { afterEach, describe, expect, jest, test } from '@jest/globals'
import { once } from 'node:events'
import type net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Reply } from '../../../src/chassis/contract/reply.ts'
import { LIMITS } from '../../../src/chassis/http/limits.ts'
import type { Guard } from '../../../src/chassis/index.ts'
import { dial, parseResponses } from '../support/app.ts'
import { doesNotRead, hangUp, says, until } from '../support/clients.ts'
import { added, addNote, addNoteHead, startNotes, statusesIn } from '../support/notes.ts'
import { CHUNKED, CLOSE, get } from '../support/requests.ts'

afterEach(() => {
  hangUp()
  jest.restoreAllMocks()
})

const FOREVER = 3_600_000
/** Nothing ends a connection but what a test does. */
const NO_LIMITS = { timeout: 0, requestTimeout: 0, evictableAfter: FOREVER }

const isOpen = ({ socket }: { socket: net.Socket }) => !socket.destroyed

/** A service whose handlers wait until `end` is called. */
async function startSlow(limits: Parameters<typeof startNotes>[1] = {}) {
  const waiting: (() => void)[] = []
  const wait = <T>(reply: T) => new Promise<T>((resolve) => waiting.push(() => resolve(reply)))
  const notes = await startNotes(
    {
      readNote: () => wait<Reply>({ status: 200, body: { text: '', tag: '' } }),
      addNote: (input) => wait<Reply>(added(input)),
    },
    limits,
  )
  return {
    ...notes,
    waiting,
    /** Ends the handlers that wait. */
    end: () => waiting.splice(0).forEach((end) => end()),
    /** Sends requests, one on each connection, and waits until each has its handler. */
    occupy: async (count: number, request = get('/notes/x')) => {
      const sockets = Array.from({ length: count }, () => says(request)(notes.port))
      await until(() => waiting.length === count)
      return sockets
    },
  }
}

/** Connects, and wants one response. */
function arrive(port: number) {
  const client = dial(port)
  client.socket.write(get('/nothing', CLOSE))
  return client
}

/** Expects that a client which `arrive`d gets a place, and its response. */
async function expectPlace(client: ReturnType<typeof arrive>): Promise<void> {
  await until(() => !isOpen(client), 'the client never got a place')
  expect(statusesIn(client.text())).toEqual([404])
}

/** Connects, has one response, and stays idle. */
async function connect(port: number) {
  const client = dial(port)
  const request = async (path = '/nothing') => {
    const before = client.text().length
    client.socket.write(get(path))
    await until(() => client.text().length > before)
  }
  await request()
  return { ...client, request }
}

describe('a place', () => {
  // SECURITY.md: Memory
  test('is kept while the handler works, also after the client has left', async () => {
    const { port, occupy, end } = await startSlow({ limits: { maxConnections: 2 } })
    await occupy(2)
    hangUp()
    const next = arrive(port)
    await sleep(100)
    expect(next.text()).toBe('')
    end()
    await expectPlace(next)
  })

  const half = addNote(' '.repeat(50_000)).slice(0, 1_000)
  const xml = half.replace('json', 'xml')
  test.each<[string, string, 'reset' | 'end', number | undefined, 'left' | undefined]>([
    ['in the middle of a body', half, 'reset', undefined, 'left'],
    ['in the middle of a body, and says so', half, 'end', undefined, 'left'],
    ['while a body of another media type is dropped', xml, 'reset', 415, undefined],
    ['after an upload that gets 404', half.replace('/notes', '/nothing'), 'end', 404, undefined],
    ['before it has read a list', get('/notes'), 'reset', 200, 'left'],
    ['after broken chunks', `${addNoteHead(CHUNKED)}zz\r\n`, 'end', 400, undefined],
  ])(
    'comes back at once, and there is one line, when its client leaves %s',
    async (_, bytes, how, status, aborted) => {
      jest.replaceProperty(LIMITS, 'linger', FOREVER)
      const { port, close, lines } = await startNotes(
        { addNote: added, listNotes: () => ({ status: 200, body: endless() }) },
        { limits: { ...NO_LIMITS, maxConnections: 1 } },
      )
      const { socket } = dial(port)
      socket.write(bytes)
      await sleep(50)
      if (how === 'reset') socket.resetAndDestroy()
      else socket.end()
      const next = arrive(port)
      await expectPlace(next)
      await close()
      expect(lines.map((line) => [line['status'], line['aborted']])).toEqual([
        [status, aborted],
        [404, undefined],
      ])
    },
  )

  test('that waits for a large body comes back before the bodies that are being stored', async () => {
    const large = addNote({ text: 'x'.repeat(5_000) })
    const { port, occupy, end } = await startSlow({ limits: { maxConnections: 17 } })
    await occupy(16, large)
    const socket = says(large)(port)
    await sleep(50)
    socket.resetAndDestroy()
    const next = arrive(port)
    await expectPlace(next)
    end() // all services of this process share the turns
  })
})

describe('a handler that does not end', () => {
  const abandonedAfter = 100
  const large = addNote({ text: 'x'.repeat(5_000) })

  // SECURITY.md: A handler whose client has left
  test.each([
    ['the guard or the handler of readNote', 'readNote', get('/notes/x')],
    ['the guard or the handler of addNote', 'addNote', large], // pipelined, below: only one is served
    ['the guard', 'guard', get('/hang')],
  ])('gives its place back after its client has left: %s', async (who, operation, bytes) => {
    const ends: (() => void)[] = []
    const guard: Guard<string> = async (ctx, next) => {
      ctx.req.identify('somebody')
      if (ctx.path === '/hang') await new Promise<void>((resolve) => ends.push(resolve))
      return next()
    }
    const limits = { maxConnections: 2, abandonedAfter }
    const { port, waiting, end, lines, metrics, close } = await startSlow({ limits, guard })
    const left = [1, 2].map(() => says(bytes + bytes)(port))
    await until(() => waiting.length + ends.length === 2)
    left.forEach((socket) => socket.resetAndDestroy())
    const next = arrive(port)
    await once(next.socket, 'close')
    expect(statusesIn(next.text())).toEqual([404])
    const said = () => lines.filter(({ msg }) => String(msg).startsWith(`${who} has not ended`))
    await until(() => said().length === 2)
    expect(said()[0]).toMatchObject({ id: expect.any(String) })
    const count = async () => (await metrics.expose()).text
    expect(await count()).toContain(`http_handlers_abandoned_total{operation="${operation}"} 2`)
    end()
    ends.forEach((resolve) => resolve())
    await sleep(20)
    expect(await count()).toMatch(/^http_connections 0$/m)
    expect(await close()).toBe(false)
  })

  test('gives back its turn among large bodies, too', async () => {
    const { port, occupy, waiting, end } = await startSlow({ limits: { abandonedAfter } })
    const left = await occupy(LIMITS.maxLargeBodies, large)
    left.forEach((socket) => socket.resetAndDestroy())
    const next = says(large)(port)
    await until(() => waiting.length > left.length)
    expect(next.destroyed).toBe(false)
    end()
  })

  test('has no line if it ends soon after its client has left, and does not delay a stop', async () => {
    const { occupy, end, lines, close } = await startSlow({ limits: { abandonedAfter } })
    await occupy(2)
    hangUp()
    await until(() => lines.length === 2)
    end()
    await sleep(2 * abandonedAfter)
    await occupy(1)
    expect(await close(50)).toBe(true)
    await until(() => lines.length === 3)
    expect(lines.map(({ msg }) => msg)).toEqual(Array(3).fill('response aborted'))
  })
})

async function* endless() {
  for (;;) yield [{ text: 'x'.repeat(50_000), tag: '' }]
}

describe('too many connections', () => {
  // SECURITY.md: Connections
  test('evict the one that has been idle longest; first, what it has sent is read', async () => {
    const { port, metrics } = await startNotes({}, { limits: { maxConnections: 4 } })
    const clients = []
    while (clients.length < 4) clients.push(await connect(port))
    const [first, second, third] = clients
    await sleep(120)
    await first!.request()
    says('')(port)
    process.nextTick(() => void second!.request()) // in the turn in which the new one comes
    await until(() => !isOpen(third!))
    await connect(port) // there is room for it when the fourth is evicted
    expect(clients.map(isOpen)).toEqual([true, true, false, false])
    const { text } = await metrics.expose()
    expect(text).toMatch(/^http_connections 4$/m)
    expect(text).toContain('http_connections_dropped_total{reason="evicted"} 2')
  })

  test('do not evict a client that goes on reading a list, but one that came later and is idle', async () => {
    const listNotes = () => ({ status: 200, body: endless() })
    const { port } = await startNotes({ listNotes }, { limits: { maxConnections: 2 } })
    const reader = dial(port)
    reader.socket.write(get('/notes'))
    await until(() => reader.text() !== '')
    const idle = await connect(port)
    await sleep(200)
    await connect(port)
    expect([reader, idle].map(isOpen)).toEqual([true, false])
  })

  // SECURITY.md: Connections
  test('wait while all others are served; when too many wait, the one that has waited longest is refused', async () => {
    const limits = { maxConnections: 20, maxWaitingConnections: 20 }
    const { port, occupy, waiting, metrics } = await startSlow({ limits })
    const served = await occupy(20)
    const first = arrive(port)
    await once(first.socket, 'connect')
    const more = Array.from({ length: 20 }, () => dial(port)) // one more than may wait
    await until(() => !isOpen(first))
    expect([more.every(isOpen), first.text()]).toEqual([true, ''])
    const { text } = await metrics.expose()
    expect(text).toContain('http_connections_dropped_total{reason="refused"} 1')
    const [second] = more
    second!.socket.write(get('/nothing', CLOSE))
    waiting.pop()!()
    await until(() => second!.text() !== '')
    expect(statusesIn(second!.text())).toEqual([404])
    await until(() => served.some(({ destroyed }) => destroyed)) // the one whose request was served
    expect(served.filter((socket) => isOpen({ socket })).length).toBe(19)
  })

  test('evict one idle connection for each that waits, less those whose clients have left', async () => {
    const { port, occupy, end } = await startSlow({ limits: { maxConnections: 2 } })
    const [leaving] = await occupy(1)
    const idle = await connect(port)
    leaving!.resetAndDestroy()
    await sleep(150)
    const next = dial(port)
    next.socket.write(get('/nothing'))
    await sleep(100)
    expect([isOpen(idle), next.text()]).toEqual([true, ''])
    end()
    await until(() => next.text() !== '')
    expect(isOpen(idle)).toBe(true)
  })

  test('evict an idle one sooner than a new one that is silent', async () => {
    const limits = { maxConnections: 2, evictableAfter: FOREVER }
    const { port } = await startNotes({}, { limits })
    const silent = dial(port)
    await once(silent.socket, 'connect')
    const idle = await connect(port)
    await sleep(200)
    await connect(port)
    expect([silent, idle].map(isOpen)).toEqual([true, false])
  })

  test('evict one whose client sends further requests before it has read a response', async () => {
    const limits = { maxConnections: 1, evictableAfter: 100 }
    const { port, occupy, end } = await startSlow({ limits })
    const [busy] = await occupy(1, get('/notes/x').repeat(2))
    const next = arrive(port)
    await until(() => busy!.destroyed)
    end()
    await until(() => next.text() !== '')
    expect(statusesIn(next.text())).toEqual([404])
  })

  test.each([
    [100, true],
    [FOREVER, false],
  ])('evict a busy one, if many wait, after evictableIdleAfter: %d ms', async (idle, isEvicted) => {
    const limits = { maxWaitingConnections: 2, evictableAfter: FOREVER, evictableIdleAfter: idle }
    const { port } = await startNotes({}, { limits: { maxConnections: 1, ...limits } })
    const busy = says(addNoteHead('Content-Length: 9\r\n'))(port)
    await once(busy, 'connect')
    const clients = [arrive(port), arrive(port)]
    await (isEvicted ? until(() => busy.destroyed) : sleep(100))
    expect(busy.destroyed).toBe(isEvicted)
    busy.destroy()
    await until(() => clients.every(({ text }) => text() !== ''))
  })

  test('evict one that does not read its response', async () => {
    const limits = { maxConnections: 1, evictableAfter: 100 }
    const listNotes = () => ({ status: 200, body: endless() })
    const { port, close, lines } = await startNotes({ listNotes }, { limits })
    const idle = doesNotRead(get('/notes'))(port)
    await once(idle, 'connect')
    const next = arrive(port)
    await until(() => next.text() !== '')
    expect(statusesIn(next.text())).toEqual([404])
    await close()
    expect(lines).toMatchObject([{ aborted: 'evicted' }, { status: 404 }])
  })

  test('that wait do not keep the server from closing', async () => {
    const { port, occupy, end, close } = await startSlow({ limits: { maxConnections: 1 } })
    await occupy(1)
    const held = dial(port)
    held.socket.write(get('/nothing'))
    await once(held.socket, 'connect')
    await sleep(50)
    const closed = close(60_000)
    end()
    expect(await closed).toBe(false)
  })
})

test('at most maxStartsPerTurn requests start in one turn of the event loop', async () => {
  const turns: number[] = []
  let turn = 0
  const count = () => {
    turn += 1
    if (turns.length < 10) setImmediate(count)
  }
  const listNotes = () => {
    turns.push(turn)
    return { status: 200, body: [] }
  }
  const { port } = await startNotes({ listNotes }, { limits: { maxStartsPerTurn: 2 } })
  const clients = []
  while (clients.length < 10) clients.push(await connect(port))
  clients.forEach(({ socket }) => socket.write(get('/notes')))
  setImmediate(count)
  await until(() => turns.length === 10)
  const most = Math.max(...turns.map((turn) => turns.filter((other) => other === turn).length))
  expect(most).toBe(2)
})

test('an idle connection holds no request', async () => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const requests: WeakRef<object>[] = []
  const guard: Guard<string> = (ctx, next) => {
    requests.push(new WeakRef(ctx.req))
    return next()
  }
  const { port } = await startNotes({}, { guard })
  const { socket } = await connect(port)
  await until(() => {
    gc()
    return requests[0]!.deref() === undefined
  })
  expect(isOpen({ socket })).toBe(true)
})

test('while a body with too many chunks waits for its turn, no more of it is read', async () => {
  const guarded: net.Socket[] = []
  const guard: Guard<string> = (ctx, next) => {
    if (ctx.method === 'GET') return next()
    guarded.push(ctx.req.socket)
    return new Promise<void>(() => {})
  }
  const { port, exchange } = await startNotes({}, { guard })
  const client = dial(port)
  client.socket.write(get('/nothing') + addNoteHead(CHUNKED) + '1\r\na\r\n'.repeat(100_000))
  await until(() => guarded.length === 1)
  for (let i = 0; i < 5; i += 1) await exchange(get('/nothing', CLOSE))
  expect(guarded[0]!.bytesRead).toBeLessThanOrEqual(65_536) // what Node reads at once
})

test('when the server closes, all requests of a connection have their responses', async () => {
  const { port, waiting, end, close } = await startSlow()
  const client = dial(port)
  client.socket.write(get('/notes/x').repeat(2))
  await until(() => waiting.length === 1)
  const closed = close(60_000)
  end()
  await until(() => waiting.length === 1)
  end()
  await once(client.socket, 'close')
  expect(await closed).toBe(false)
  expect(parseResponses(client.text()).map(({ status }) => status)).toEqual([200, 200])
})

test('too many requests in the first packet of a connection leave one line', async () => {
  const { port, waiting, close, lines } = await startSlow()
  dial(port).socket.write(get('/notes/x').repeat(13))
  await until(() => lines.length > 0)
  await close()
  expect([lines, waiting]).toMatchObject([[{ aborted: 'pipelined' }], []])
})

test('too many requests at once on a connection cut off the response that one of them waits for', async () => {
  const { occupy, lines } = await startSlow()
  const [client] = await occupy(1)
  client!.write(get('/notes/x').repeat(11))
  await until(() => lines.length === 1)
  expect(lines).toMatchObject([{ aborted: 'pipelined' }])
})

test('the server cuts off requests when the time to close is over; it waits for the line of each, not for its handler', async () => {
  const { port, waiting, close, lines } = await startSlow({ limits: NO_LIMITS })
  const slow = [addNote(' '.repeat(50_000)).slice(0, 1_000), get('/notes/x').repeat(2)]
  slow.forEach((request) => says(request)(port))
  says('')(port)
  await until(() => waiting.length === 1)
  await sleep(50)
  expect(await close(50)).toBe(true)
  const line = { level: 'warn', aborted: 'stopped', msg: 'response aborted' }
  expect(lines).toEqual(slow.map(() => expect.objectContaining(line)))
})
