// What the author of a guard forgets.
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { HttpError, type Guard } from '../../src/chassis/index.ts'
import { NO_NOTE, useNotes } from './support/notes.ts'

type Next = () => Promise<void>
/** What the guard does, with Koa's context, as an author without types can. */
type Untyped = (next: Next, ctx: { body?: unknown; status: number }) => unknown

const REFUSED = new HttpError(401, 'unauthorized', 'no key')
const mistake = new Error('a mistake')
const fail = (): never => {
  throw mistake
}
const served: string[] = []
let check: Untyped = (next) => next()
const guard: Guard<string> = (ctx, next) => {
  ctx.req.identify('somebody')
  return check(next, ctx as never) as Promise<void>
}
const service = useNotes(
  {
    async readNote({ path: { id = '' } }) {
      served.push(id)
      await sleep(5)
      if (id !== '1') throw NO_NOTE
      return { status: 200, headers: { 'X-Kind': 'note' }, body: { text: '', tag: '' } }
    },
    removeNote: () => ({ status: 204 }),
  },
  { guard },
)

/** Sends a request through a guard: the status, and the errors in the log, without the lines of requests. */
async function ask(untyped: Untyped, line: string) {
  check = untyped
  served.length = 0
  service().lines.length = 0
  const { status } = await service().send(line)
  await sleep(30) // for what comes after the response
  return [status, ...service().lines.flatMap(({ err }) => causesOf(err))]
}

type Logged = { message: string; cause?: Logged }
const causesOf = (error: unknown): string[] => {
  const { message, cause } = Object(error) as Partial<Logged>
  return message === undefined ? [] : [message, ...causesOf(cause)]
}

test('a guard that identifies a promise, without await, is a 500 that says so', async () => {
  const identify: Untyped = (next, ctx) => {
    ;(ctx as unknown as { req: { identify: (caller: unknown) => void } }).req.identify(
      Promise.resolve(),
    )
    return next()
  }
  const said = 'the guard has identified a promise: await it'
  expect(await ask(identify, 'GET /notes/1')).toEqual([500, said])
})

test.each<[string, Untyped]>([
  ['await next(), and more', async (next) => [await next()]],
  ['return next()', (next) => next()],
  ['next() without await', async (next) => void next()],
  ['next(), whose error it drops', (next) => next().catch(() => {})],
])('a guard that does %s waits for the response, which is right', async (_, untyped) => {
  expect(await ask(untyped, 'GET /notes/1')).toEqual([200])
  expect(await ask(untyped, 'GET /notes/2')).toEqual([404])
  expect(await ask(untyped, 'DELETE /notes/1')).toEqual([204])
})

const FORGOTTEN = 'the guard has ended without calling `next`, and without an error'
const LATE = 'the guard has called `next` after its end: nothing was served'
const CHANGED = 'the guard has changed the response: only handlers respond'
const BEFORE = 'a middleware before readNote has set a body'
const TWICE = 'next() called multiple times'
const OTHER = 'an error that is not the response, which is another error'
const THROWN = 'the guard has refused the request after `next`: its operation may have been done'
const nextLater = async (next: Next) => (await sleep(10), next())
const refuse = () => Promise.reject(REFUSED)

test.each<[string, Untyped, ...unknown[]]>([
  ['ends without next', () => {}, 500, FORGOTTEN],
  ['sets a body in place of next', (_, ctx) => void (ctx.body = 'x'), 500, FORGOTTEN],
  ['sets a body before next', (next, ctx) => ((ctx.body = 'x'), next()), 500, BEFORE],
  ['sets a body after next', (next, ctx) => next().then(() => (ctx.body = 'x')), 500, CHANGED],
  ['sets a status after next', (next, ctx) => next().then(() => (ctx.status = 202)), 500, CHANGED],
  ['calls next twice', (next) => Promise.all([next(), next()]), 500, TWICE],
  ['calls next twice, in turn', async (next) => [await next(), await next()], 500, TWICE],
  ['throws after next', (next) => [next(), fail()], 500, mistake.message],
  ['throws after the response of next', (next) => next().then(fail), 500, mistake.message],
  ['refuses after next', (next) => next().then(refuse), 401, THROWN, 'no key'],
  ['rejects without a reason', () => Promise.reject(), 500, 'undefined'],
  ['calls next in a timer', (next) => void setTimeout(() => void next(), 10), 500, FORGOTTEN, LATE],
  ['calls next too late', (next) => void nextLater(next), 500, FORGOTTEN, LATE],
])('a guard that %s is an error, and the log says so', async (_, untyped, ...expected) => {
  expect(await ask(untyped, 'GET /notes/1')).toEqual(expected)
  if (expected.includes(LATE)) expect(served).toEqual([])
})

test('of several errors, the first is the response, and each other one a line', async () => {
  const late: Untyped = (next) => (void next(), sleep(20).then(fail))
  expect(await ask(late, 'GET /notes/2')).toEqual([404, OTHER, mistake.message])
  const refused: Untyped = (next) => (void next(), refuse())
  const lines = [THROWN, REFUSED.message, OTHER, NO_NOTE.message]
  expect(await ask(refused, 'GET /notes/2')).toEqual([401, ...lines])
})
