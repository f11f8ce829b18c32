// Lists as a JSON array and as lines: how they are written, and how they are streamed over HTTP.
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { arrayWriter, linesOf, type ListWriter } from '../../src/contract/list-body.ts'
import { StoreFailure, type User } from '../../src/store/user-store.ts'
import { failing } from '../support/failing-store.ts'
import { startService, tokens, useService } from '../support/service.ts'
import { anyText } from '../support/text.ts'
import { newUser } from '../support/users.ts'

/** The parts that are written of these pages. */
const written = (write: ListWriter, pages: unknown[][]): string[] =>
  [...pages, undefined].map((page) => write(page)).filter(Boolean)

test.each([
  ['no pages', [], ['[]'], []],
  ['empty pages', [[], []], ['[]'], []],
  ['one page', [[1, 2]], ['[1,2', ']'], ['1\n2\n']],
  ['two pages', [[1], ['a\n']], ['[1', ',"a\\n"', ']'], ['1\n', '"a\\n"\n']],
  ['empty pages between others', [[], [1], [], [2]], ['[1', ',2', ']'], ['1\n', '2\n']],
])('a list of %s is written as an array and as lines', (_, pages, array, lines) => {
  expect(written(arrayWriter(), pages)).toEqual(array)
  expect(written(linesOf, pages)).toEqual(lines)
})

test('no text of a user breaks the array or a line', () => {
  const parts = ['}', ',', '{', '"', 'id', ':', '\\', '\n', '\r', '\u2028', '[', ']', '\0', '},{']
  const text = fc.oneof(
    anyText,
    fc.array(fc.constantFrom(...parts)).map((some) => some.join('')),
  )
  const pages = fc.array(fc.array(fc.record({ id: text, name: text }), { maxLength: 4 }), {
    maxLength: 4,
  })
  const property = fc.property(pages, (pages) => {
    const lines = written(linesOf, pages).join('').split('\n')
    expect(lines.pop()).toBe('')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(pages.flat())
    const array = written(arrayWriter(), pages).join('')
    expect(JSON.parse(array)).toEqual(pages.flat())
  })
  fc.assert(property, { numRuns: 30 })
})

const GET_USERS = `GET /users HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.issue('x')}\r\n`
const asking = (type: string) => `${GET_USERS}Accept: ${type}\r\n\r\n`
const TYPES = ['application/json', 'application/x-ndjson']
const LINES = { accept: 'application/x-ndjson' }

const fields = newUser({ name: 'x'.repeat(1_000) })
const user = (i: number): User => ({ ...fields, id: i.toString(16).padStart(24, '0') })

/** A store with `count` users that notes how many were fetched, and whether the list was closed. */
function storeOf(count: number, atEnd?: () => void) {
  const seen = { fetched: 0, closed: false }
  const list = async function* () {
    try {
      for (; seen.fetched < count; seen.fetched += 1) {
        yield [user(seen.fetched)]
        yield []
      }
      if (atEnd) await sleep(50) // the client reads what a reset would take away
      atEnd?.()
    } finally {
      seen.closed = true
    }
  }
  return { seen, store: failing({ list }) }
}

describe.each(TYPES)('a list as %s', (type) => {
  test('arrives whole', async () => {
    const service = await startService(storeOf(2_000).store)
    const { json } = await service.send('GET /users', { headers: { accept: type } })
    expect(json).toEqual(Array.from({ length: 2_000 }, (_, i) => user(i)))
    await service.close()
  })

  test('breaks the connection when it fails after the first users, and the log says why', async () => {
    const { store, seen } = storeOf(100, () => {
      throw new StoreFailure(new Error('the cause'))
    })
    const service = await startService(store)
    const text = await service.exchange(asking(type))
    expect(text).toMatch(/^HTTP\/1.1 200 [^]*Transfer-Encoding: chunked/)
    expect(text).toContain(`Content-Type: ${type}`)
    expect(text).not.toMatch(/\r\n0\r\n\r\n$/)
    expect(seen.closed).toBe(true)
    while (service.lines.length < 2) await sleep(10)
    await service.close()
    expect(service.lines).toMatchObject([
      { level: 50, err: { cause: { message: 'the cause' } } },
      { level: 40, status: 200, msg: 'response aborted' },
    ])
  })

  test('is fetched no faster than the client reads, and closed when the client leaves', async () => {
    const { store, seen } = storeOf(1_000_000)
    const service = await startService(store)
    const socket = net.connect(service.port, '127.0.0.1').pause()
    socket.write(asking(type))
    for (let before = -1; before !== seen.fetched || before === 0; await sleep(100)) {
      before = seen.fetched
    }
    expect(seen.fetched).toBeLessThan(50_000)
    socket.destroy()
    await once(socket, 'close')
    while (!seen.closed) await sleep(5)
    await service.close()
    expect(service.lines).toMatchObject([{ level: 40, msg: 'response aborted' }])
  })

  test('is a 500, with none of the headers of a list, when it fails at once', async () => {
    const service = await startService(failing())
    for (const path of ['/users', '/users?limit=1', '/users?email=x']) {
      const { status, headers } = await service.send(`GET ${path}`, { headers: { accept: type } })
      expect([status, headers.link, headers.vary]).toEqual([500, undefined, undefined])
    }
    await service.close()
  })
})

describe('the media type of a list', () => {
  const service = useService(() => storeOf(2).store)

  test.each([
    ['application/x-ndjson', true],
    ['application/x-ndjson;q=0.5', true],
    ['Application/X-NDJSON', true],
    ['application/x-ndjson, application/json', true],
    ['application/json;q=0.5, application/x-ndjson', true],
    ['text/html, application/x-ndjson, */*;q=0.1', true],
    ['application/json, application/x-ndjson', false],
    ['application/json, application/x-ndjson;q=0.9', false],
    ['application/x-ndjson;q=0', false],
    ['*/*', false],
    ['application/*', false],
    ['text/html', false],
    ['', false],
    [';;;,,/', false],
  ])('with Accept: %s, lines: %s', async (accept, isLines) => {
    const { status, headers } = await service().send('GET /users', { headers: { accept } })
    const type = isLines ? 'application/x-ndjson' : 'application/json; charset=utf-8'
    expect([status, headers['content-type'], headers.vary]).toEqual([200, type, 'Accept'])
  })

  test('is JSON in an error, whatever Accept says', async () => {
    const { status, json } = await service().send('GET /users?limit=0', { headers: LINES })
    expect([status, Object.keys(json)]).toEqual([400, ['message']])
  })
})
