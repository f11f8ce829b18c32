// client.signal: it aborts when nobody waits for the response any more, or nobody should.
import { afterEach, expect, jest, test } from '@jest/globals'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { LIMITS } from '../../../src/chassis/http/limits.ts'
import type { Client, Guard } from '../../../src/chassis/index.ts'
import { dial, listen } from '../support/app.ts'
import { says, until } from '../support/clients.ts'
import { startNotes } from '../support/notes.ts'
import { get } from '../support/requests.ts'

afterEach(() => void jest.restoreAllMocks())

type ListNotes = NonNullable<Parameters<typeof startNotes>[0]>['listNotes'] & {}
const list = { status: 200, body: [] }

/** A service whose list asks another one that does not respond, and the signals that it has used. */
async function startAsking() {
  const silent = createServer(() => {})
  const url = `http://127.0.0.1:${await listen(silent)}`
  const signals: AbortSignal[] = []
  const listNotes: ListNotes = async (_, { signal }) => {
    signals.push(signal)
    await fetch(url, { signal })
    return list
  }
  const service = await startNotes({ listNotes })
  const close = async () => {
    silent.closeAllConnections()
    silent.close()
    await service.close()
  }
  return { ...service, signals, close }
}

test('when the client leaves, what the handler waits for is aborted, without an error in the log', async () => {
  const { port, signals, lines, close } = await startAsking()
  const socket = says(get('/notes'))(port)
  await until(() => signals.length === 1)
  socket.resetAndDestroy()
  await until(() => signals[0]!.aborted)
  await close()
  expect(lines.map(({ msg }) => msg)).toEqual(['response aborted'])
})

test('at the time limit of a request, what the handler waits for is aborted: a 500 that says so', async () => {
  jest.replaceProperty(LIMITS, 'signalTimeout', 50)
  const { send, lines, close } = await startAsking()
  expect((await send('GET /notes')).status).toBe(500)
  await close()
  const cause = expect.stringMatching('what the handler waits for has taken longer than 25 s')
  expect(lines.at(-1)).toMatchObject({ operation: 'listNotes', status: 500, cause })
})

test('the time limit counts from the arrival of the request, not from the first use of the signal', async () => {
  jest.replaceProperty(LIMITS, 'signalTimeout', 200)
  let first: unknown
  const listNotes: ListNotes = async (_, client) => {
    await sleep(200)
    first = await Promise.race([once(client.signal, 'abort'), sleep(100, 'later')])
    return list
  }
  const { send, close } = await startNotes({ listNotes })
  await send('GET /notes')
  await close()
  expect(first).not.toBe('later')
})

test('the end of a response aborts nothing, also not later; once the client has left, a signal is aborted from the start', async () => {
  jest.replaceProperty(LIMITS, 'signalTimeout', 200)
  const clients: Client[] = []
  const listNotes: ListNotes = (_, client) => {
    if (clients.push(client) === 1) expect(client.signal.aborted).toBe(false)
    return list
  }
  const { port, close } = await startNotes({ listNotes })
  const { socket, text } = dial(port)
  for (const count of [1, 2, 3]) {
    socket.write(get('/notes'))
    await until(() => text().split('HTTP/1.1 200').length > count)
  }
  const used = () => clients.slice(0, 2).map(({ signal }) => signal.aborted)
  await sleep(300)
  used() // the second for the first time
  await sleep(50)
  expect(used()).toEqual([false, false])
  socket.resetAndDestroy()
  await until(() => clients[0]!.hasLeft)
  await close()
  expect(clients.map(({ signal }) => signal.aborted)).toEqual([false, false, true])
})

test('listeners run in the async context of their request', async () => {
  const context = new AsyncLocalStorage<string>()
  const guard: Guard<string> = (ctx, next) => context.run(ctx.get('X-Name'), next)
  const seen: unknown[] = []
  let begun = 0
  const listNotes: ListNotes = async (_, { signal }) => {
    signal.addEventListener('abort', () => seen.push([context.getStore(), signal.reason.code]))
    begun += 1
    await once(signal, 'abort')
    return list
  }
  const { port } = await startNotes({ listNotes }, { guard })
  const names = ['Ada', 'Grace', 'Mary']
  const sockets = names.map((name) => says(get('/notes', `X-Name: ${name}\r\n`))(port))
  await until(() => begun === 3)
  for (const socket of sockets) socket.resetAndDestroy()
  await until(() => seen.length === 3)
  expect(seen.sort()).toEqual(names.map((name) => [name, 'ABORT_ERR']))
})
