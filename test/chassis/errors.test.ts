// Every error becomes one response, and those that are the service's fault a line in the log.
import { describe, expect, test } from '@jest/globals'
import Koa from 'koa'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { respondToErrors } from '../../src/chassis/errors.ts'
import { createServer } from '../../src/chassis/http/server.ts'
import { HttpError, StoreFailure } from '../../src/chassis/index.ts'
import { listen } from './support/app.ts'
import { startNotes } from './support/notes.ts'

const INTERNAL_ERROR = '{"message":"internal error","code":"internal_error"}'
const errorWith = (code: string) => Object.assign(new Error('x'), { code })

describe('in an app', () => {
  /** Sends a request to an app of one middleware: the response, and the errors that were emitted. */
  async function ask(middleware: (ctx: Koa.Context, leave: () => void) => unknown) {
    const client = new AbortController()
    const app = new Koa()
    const emitted: unknown[] = []
    app.on('error', (error: Error) => void emitted.push(error.cause ?? error))
    respondToErrors(app)
    const handle = app.use((ctx) => middleware(ctx, () => client.abort())).callback()
    const { server, close } = createServer((request, response) => void handle(request, response))
    const response = await fetch(`http://127.0.0.1:${await listen(server)}`, client)
      .then(async (reply) => [reply.status, reply.statusText, await reply.text()])
      .catch(() => 'broken off')
    await close(0)
    return { response, emitted }
  }

  const GONE = ['ABORT_ERR', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].map(errorWith)

  test.each([errorWith('EIO'), ...GONE])(
    '$code is a 500 whatever was set before, and emitted',
    async (error) => {
      const { response, emitted } = await ask((ctx) => {
        ctx.status = 201
        ctx.onerror(error)
      })
      expect(response).toEqual([500, 'Internal Server Error', INTERNAL_ERROR])
      expect(emitted).toEqual([error])
    },
  )

  test.each(GONE)(
    '$code of another service breaks off a response that has begun',
    async (error) => {
      const { response, emitted } = await ask((ctx) => {
        ctx.res.write('x')
        ctx.onerror(error)
      })
      expect([response, emitted]).toEqual(['broken off', [error]])
    },
  )

  test('after an error that comes after the whole response, the client has all of it', async () => {
    const text = 'x'.repeat(5_000_000) // more than the kernel takes
    const error = new Error('x')
    const { response, emitted } = await ask((ctx) => {
      ctx.res.end(text)
      ctx.onerror(error)
    })
    expect(response[2]).toHaveLength(text.length)
    expect(emitted).toEqual([error])
  })

  test('an error after the client left is emitted unless it only says so', async () => {
    const other = new Error('x')
    const { emitted } = await ask(async (ctx, leave) => {
      leave()
      await once(ctx.res, 'close')
      for (const error of [...GONE, other]) ctx.onerror(error)
    })
    for (let i = 0; emitted.length === 0 && i < 100; i += 1) await setImmediate()
    expect(emitted).toEqual([other])
  })
})

const taken = new HttpError(400, 'body_invalid', 'it is taken')

/** What a service responds to a request, and logs of it, when its handlers throw `thrown`. */
async function failWith(thrown: unknown, toHttpError?: typeof translate) {
  const listNotes = () => Promise.reject(thrown)
  const service = await startNotes({ listNotes }, toHttpError && { toHttpError })
  const { status, text } = await service.send('GET /notes')
  await service.close()
  return { response: [status, text], lines: service.lines }
}

test('when the store fails, the response is a 500; only the log has the cause', async () => {
  const { response, lines } = await failWith(new StoreFailure(new Error('the cause')))
  expect(response).toEqual([500, INTERNAL_ERROR.replace('internal error', 'the data store failed')])
  const cause = 'cannot use the data store: the cause'
  expect(lines).toMatchObject([{ level: 'error', status: 500, code: 'internal_error', cause }])
})

const INVALID = new HttpError(400, 'query_invalid', 'x')
class Taken extends Error {}
const translate = (error: unknown) => (error instanceof Taken ? taken : undefined)

const WHY = new Error('why')

test.each<[string, unknown, (error: unknown) => unknown, HttpError | 500, string]>([
  ['an error of the service', new Taken(), translate, taken, ''],
  ['any other error', WHY, translate, 500, 'why'],
  ['an HttpError', INVALID, () => taken, INVALID, ''],
  ['an error in toHttpError', WHY, () => JSON.parse('['), 500, '`toHttpError` has thrown: Unexp'],
  ['an object', WHY, () => ({ status: 400 }), 500, '`toHttpError` must return'],
  ['a text', WHY, () => 'x', 500, '`toHttpError` must return'],
  ['a promise', WHY, async () => taken, 500, '`toHttpError` must return'],
])(
  'with toHttpError, %s becomes the right response',
  async (_, thrown, toHttpError, expected, said) => {
    const { response, lines } = await failWith(thrown, toHttpError as typeof translate)
    const { status, body } = expected === 500 ? { status: 500, body: INTERNAL_ERROR } : expected
    expect(response).toEqual([status, body])
    if (said.startsWith('`')) expect(lines[0]).toMatchObject({ err: { cause: { message: 'why' } } })
    if (said) expect(lines[1]).toMatchObject({ cause: expect.stringContaining(said) })
  },
)

const endless = new Error('it is its own cause')
endless.cause = endless
const headers = { 'X-Why': 'a\nb' }

test.each([
  ['of another class', Object.assign(new TypeError('x', { cause: 'why' }), { code: 'X' }), 'x'],
  ['that cannot be changed', Object.freeze(new Error('frozen')), 'frozen'],
  ['that is its own cause', endless, endless.message],
  ['whose message is no text', Object.assign(new Error(), { message: 7 }), /no message/],
  ['that cannot be a text', Object.create(null), /no message/],
  ['that is undefined', undefined, 'undefined'],
  ['that is null', null, 'null'],
  ['that is a text', 'a text', 'a text'],
  ['that cannot be sent', new HttpError(401, 'x', 'x', { headers }), 'header content ["X-Why"]'],
])('an error %s is a 500 with a line', async (_, error, said) => {
  const { response, lines } = await failWith(error)
  expect(response).toEqual([500, INTERNAL_ERROR])
  const cause =
    typeof said === 'string' ? expect.stringContaining(said) : expect.stringMatching(said)
  expect(lines).toMatchObject([{}, { operation: 'listNotes', cause }])
  const err = { type: 'TypeError', message: 'x', code: 'X', cause: { message: 'why' } }
  if (error instanceof TypeError) expect(lines[0]).toMatchObject({ err })
})

const self: unknown[] = []
self.push(self)
test.each([
  ['nothing', undefined, /^listNotes has returned nothing, which the contract does not have/],
  ['no status', { body: [] }, /the status undefined, which/],
  ['an undocumented status', { status: 299, body: [] }, /the status 299, which/],
  ['an impossible status', { status: 999 }, /the status 999, which/],
  ['no body', { status: 200 }, /the status 200 without a body, which/],
  ['a body that has itself inside', { status: 200, body: self }, /circular/],
  ['a body with a BigInt', { status: 200, body: [7n] }, /BigInt/],
  [
    'an item that is no JSON',
    { status: 200, body: [undefined, {}] },
    /an item of a list is undefined/,
  ],
  ['a body that is no JSON', { status: 200, body: () => [] }, /a function cannot be .* JSON/],
  ['a broken header', { status: 200, body: [], headers: { Link: 'a\nb' } }, /"Link"/],
])('a handler that returns %s gets a 500, and the log says why', async (_, reply, said) => {
  const { send, lines, close } = await startNotes({ listNotes: () => reply as never })
  expect((await send('GET /notes')).status).toBe(500)
  await close()
  expect(lines).toMatchObject([{}, { operation: 'listNotes', cause: expect.stringMatching(said) }])
})

test('a handler that returns a body with a 204 gets a 500; a header that is undefined is not sent', async () => {
  const { send, lines, close } = await startNotes({
    removeNote: () => ({ status: 204, body: 'x' }),
    listNotes: () => ({ status: 200, body: [], headers: { Link: undefined } }),
  })
  expect((await send('DELETE /notes/1')).status).toBe(500)
  const { status, headers } = await send('GET /notes')
  expect([status, headers.link]).toEqual([200, undefined])
  await close()
  const cause =
    'removeNote has returned the status 204 with a body, which the contract does not have'
  expect(lines[1]).toMatchObject({ cause })
})
