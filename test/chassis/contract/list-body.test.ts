// Lists as a JSON array and as lines: how they are written, and how they are streamed over HTTP.
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { EventEmitter, once } from 'node:events'
import net from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import {
  arrayWriter,
  writeLines,
  type ListWriter,
} from '../../../src/chassis/contract/list-body.ts'
import { StoreFailure, type Client } from '../../../src/chassis/index.ts'
import { dial } from '../support/app.ts'
import { until } from '../support/clients.ts'
import { collectGarbage } from '../support/garbage.ts'
import { startNotes, useNotes, type Note } from '../support/notes.ts'
import { CHUNKED, CLOSE, get } from '../support/requests.ts'
import { anyText } from '../support/text.ts'

const written = (write: ListWriter, pages: unknown[][]): string =>
  [...pages, undefined].map((page) => write(page)).join('')

/** What ends a line for str.splitlines(): https://docs.python.org/3/library/stdtypes.html#str.splitlines */
const LINE_ENDS = ['\n', '\r', '\v', '\f', '\x1c', '\x1d', '\x1e', '\x85', '\u2028', '\u2029']
const lineEnd = new RegExp(`[${LINE_ENDS.join('')}]`)

test('the array and the lines have all items, whatever their texts are and however many a page has', () => {
  const breaking = ['},{', '[', ']', ',', '"', '\\', ...LINE_ENDS]
  const text = fc.oneof(anyText, fc.constantFrom(...breaking))
  const page = fc.array(fc.record({ id: text, name: text }), { maxLength: 4 })
  const property = fc.property(fc.array(page, { maxLength: 4 }), (pages) => {
    const lines = written(writeLines, pages).split(lineEnd)
    expect(lines.pop()).toBe('')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(pages.flat())
    expect(JSON.parse(written(arrayWriter(), pages))).toEqual(pages.flat())
  })
  const ada = { id: '1', name: 'Ada' }
  const examples: [(typeof ada)[][]][] = [[[]], [[[], []]], [[[], [ada], [], [ada, ada]]]]
  fc.assert(property, { numRuns: 30, examples })
})

test.each([undefined, () => {}, Symbol('x')])(
  'an item that JSON does not have fails: %p',
  (item) => {
    for (const write of [arrayWriter(), writeLines])
      expect(() => write([{}, item])).toThrow('it cannot be written as JSON')
  },
)

const asking = (type: string) => get('/notes', `Accept: ${type}\r\n`)
const TYPES = ['application/json', 'application/x-ndjson']

const note = (i: number): Note => ({ text: 'x'.repeat(1_000), tag: `${i}` })

/** A handler of a list of `count` notes, each a page, that notes how many were fetched. */
function listOf(count: number, atEnd?: () => void) {
  const seen: { fetched: number; client?: Client } = { fetched: 0 }
  async function* pages() {
    while (seen.fetched < count) yield [note(seen.fetched++)]
    if (atEnd) await sleep(50).then(nextTurn) // first, the client reads what was sent, however late the timer is
    atEnd?.()
  }
  const listNotes = (_: object, client: Client) => {
    seen.client = client
    return { status: 200, headers: { Link: '</notes>; rel="next"' }, body: pages() }
  }
  return { seen, listNotes }
}

const LEAVES = 'its client leaves'
const fail = () => {
  throw new StoreFailure(new Error('the cause'))
}

describe.each(TYPES)('a list as %s', (type) => {
  test('arrives whole', async () => {
    const service = await startNotes(listOf(2_000))
    const { json } = await service.send('GET /notes', { headers: { accept: type } })
    expect(json).toEqual(Array.from({ length: 2_000 }, (_, i) => note(i)))
  })

  const VERSIONS = ['HTTP/1.0', 'HTTP/1.1'] // proxies speak 1.0 to the service
  test.each(VERSIONS)('resets the connection when it fails halfway: %s', async (version) => {
    const service = await startNotes(listOf(100, fail))
    const { socket, text } = dial(service.port)
    const errors: unknown[] = []
    socket.on('error', (error) => errors.push(error))
    socket.write(asking(type).replace('HTTP/1.1', version))
    await new Promise((resolve) => socket.once('close', resolve))
    expect(errors).toMatchObject([{ code: 'ECONNRESET' }])
    expect(text()).toMatch(/^HTTP\/1.1 200 /)
    expect(text()).toContain(`Content-Type: ${type}`)
    expect(text()).not.toMatch(/\r\n0\r\n\r\n$/)
    await service.close()
    const cause = expect.stringContaining('the cause')
    expect(service.lines).toMatchObject([
      { level: 'error', aborted: 'failed', cause, status: 200, msg: 'response aborted' },
    ])
  })

  test('is fetched no faster than the client reads, and no further when the client leaves; the log has its address', async () => {
    const { seen, ...handlers } = listOf(1_000_000)
    const service = await startNotes(handlers)
    const socket = net.connect(service.port, '127.0.0.1').pause()
    socket.write(asking(type))
    for (let before = -1; before !== seen.fetched || before === 0; await sleep(100)) {
      before = seen.fetched
    }
    expect(seen.client!.hasLeft).toBe(false)
    socket.destroy()
    await once(socket, 'close')
    const { fetched } = seen
    await sleep(100)
    expect(seen.client!.hasLeft).toBe(true)
    expect(seen.fetched).toBeLessThanOrEqual(fetched + 1)
    expect(fetched).toBeLessThan(50_000)
    await service.close()
    expect(service.lines).toMatchObject([{ aborted: 'left', remoteAddress: '127.0.0.1' }])
  })

  test.each<[string, string, (page: number) => unknown]>([
    [LEAVES, 'GET', (i) => [note(i)]],
    ['it is HEAD', 'HEAD', (i) => [note(i)]],
    ['a page is none', 'GET', (i) => (i < 9 ? [note(i)] : 'x')],
    ['it is at its end', 'GET', (i) => (i < 9 ? [note(i)] : undefined)],
  ])('runs the `finally` of its generator when %s', async (why, method, pageOf) => {
    let ended = 0
    async function* pages() {
      try {
        for (let i = 0; ; i += 1) {
          const page = pageOf(i)
          if (page === undefined) return
          yield page as Note[]
        }
      } finally {
        ended += 1
      }
    }
    const service = await startNotes({ listNotes: () => ({ status: 200, body: pages() }) })
    const { socket } = dial(service.port)
    socket.on('error', () => {}).on('data', () => why === LEAVES && socket.destroy())
    socket.write(asking(type).replace('GET', method))
    await until(() => ended > 0)
    socket.destroy()
    await service.close()
    expect(ended).toBe(1)
  })

  test('is whole, and its own error is said, whatever `return` does after its end', async () => {
    const list = (next: () => Promise<IteratorResult<Note[]>>) => ({
      status: 200 as const,
      body: {
        [Symbol.asyncIterator]: () => ({ next, return: () => Promise.reject(new Error('closed')) }),
      },
    })
    const ends = [async () => ({ value: undefined, done: true as const }), async () => fail()]
    const service = await startNotes({ listNotes: () => list(ends.shift()!) })
    const options = { headers: { accept: type } }
    for (const status of [200, 500])
      expect((await service.send('GET /notes', options)).status).toBe(status)
    expect(service.lines.at(-1)).toMatchObject({ cause: expect.stringContaining('the cause') })
  })

  test('of empty pages without end stops no other request, and ends with its client', async () => {
    async function* pages(): AsyncGenerator<Note[]> {
      for (;;) yield []
    }
    const service = await startNotes({ listNotes: () => ({ status: 200, body: pages() }) })
    const { socket } = dial(service.port)
    socket.write(asking(type))
    await sleep(50)
    expect((await service.send('GET /nothing')).status).toBe(404)
    socket.destroy()
    await service.close()
    expect(service.lines.at(-1)).toMatchObject({ aborted: 'left' })
  })

  test('that returns its last page breaks off with a line', async () => {
    async function* pages(): AsyncGenerator<Note[]> {
      yield [note(1)]
      return [note(2)]
    }
    const service = await startNotes({ listNotes: () => ({ status: 200, body: pages() }) })
    await service.send('GET /notes', { headers: { accept: type } }).catch(() => {}) // it breaks off
    await service.close()
    const message = 'a list has returned its last page: it must yield it'
    expect(service.lines[0]).toMatchObject({ err: { message } })
  })

  test('is read for HEAD no further than its first page and the next', async () => {
    const { listNotes, seen } = listOf(100)
    const service = await startNotes({ listNotes })
    const { status, text } = await service.send('HEAD /notes', { headers: { accept: type } })
    expect([status, text, seen.fetched <= 2]).toEqual([200, '', true])
  })

  test('has no page in memory while the client reads its bytes', async () => {
    const made: WeakRef<Note[]>[] = []
    const kept: unknown[] = []
    const next = async () => {
      await nextTurn()
      collectGarbage()
      kept.push(...made.map((page) => page.deref()).filter(Boolean))
      if (made.length === 3) return { value: undefined, done: true }
      const value = [note(made.length)]
      made.push(new WeakRef(value))
      return { value, done: false }
    }
    const body = { [Symbol.asyncIterator]: () => ({ next }) }
    const service = await startNotes({ listNotes: () => ({ status: 200, body }) })
    const { json } = await service.send('GET /notes', { headers: { accept: type } })
    expect([json.length, kept]).toEqual([3, []])
  })

  test('may have the same page again, also in the next response', async () => {
    const page = [note(1)]
    const pages = [page, page]
    const body = { [Symbol.asyncIterator]: () => pages.values() }
    const service = await startNotes({ listNotes: () => ({ status: 200, body }) })
    const ask = () => service.send('GET /notes', { headers: { accept: type } })
    for (const { json } of [await ask(), await ask()]) expect(json).toEqual(pages.flat())
  })

  test('is sent to its end when the service closes, and then its connection closes', async () => {
    const service = await startNotes(listOf(1, () => {}))
    const { socket, text } = dial(service.port)
    socket.write(asking(type))
    while (!text().includes('{')) await sleep(5)
    await service.close(3_600_000)
    expect(service.lines).toMatchObject([{ status: 200, msg: 'request' }])
  })

  test('is a 500, with none of the headers of a list, when it fails at once', async () => {
    for (const { listNotes } of [listOf(0, fail), { listNotes: fail }]) {
      const service = await startNotes({ listNotes })
      const { status, headers } = await service.send('GET /notes', { headers: { accept: type } })
      expect([status, headers.link, headers.vary]).toEqual([500, undefined, undefined])
      await service.close()
    }
  })
})

test.each([
  ['the first', 500, [undefined, [note(1)]]],
  ['the first', 500, ['ab']],
  ['another', 200, [[note(1)], undefined]],
])('a page that is not an array is a failure of the list: %s, %i', async (_, status, pages) => {
  async function* body() {
    yield* pages
  }
  const service = await startNotes({ listNotes: () => ({ status: 200, body: body() }) })
  await service.exchange(get('/notes', CLOSE)) // a reset can lose what was sent before
  await service.close()
  const cause = 'a page of a list must be an array'
  const msg = status === 500 ? 'request' : 'response aborted'
  expect(service.lines).toMatchObject([{}, { status, cause, msg }])
})

test('a list that begins when its request was refused, because its body broke, is not sent', async () => {
  const asked = new EventEmitter()
  async function* body() {
    asked.emit('asked')
    await once(asked, 'refused')
    yield [note(1)]
  }
  const service = await startNotes({ listNotes: () => ({ status: 200, body: body() }) })
  const { socket, text } = dial(service.port)
  socket.write(get('/notes', CHUNKED))
  await once(asked, 'asked')
  socket.write('zz\r\n')
  await once(socket, 'data')
  asked.emit('refused')
  await once(socket, 'close')
  expect(text()).toMatch(/^HTTP\/1.1 400 [^{]*{[^{]*}$/)
  await service.close()
})

const twoNotes = useNotes(listOf(2))

test.each([
  ['application/x-ndjson', true],
  ['text/html;charset=utf-8, application/x-ndjson;Charset=UTF-8', true],
  ['application/json, application/x-ndjson', false],
])('a list with Accept: %s is of lines: %s', async (accept, isLines) => {
  const { status, headers } = await twoNotes().send('GET /notes', { headers: { accept } })
  const type = `application/${isLines ? 'x-ndjson' : 'json'}; charset=utf-8`
  expect([status, headers['content-type'], headers.vary]).toEqual([200, type, 'Accept'])
})
