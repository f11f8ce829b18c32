// Every error becomes one response, and those that are the service's fault a line in the log.
import { describe, expect, test } from '@jest/globals'
import Koa from 'koa'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { respondToErrors } from '../../src/chassis/errors.ts'
import { createServer } from '../../src/chassis/http/server.ts'
import { HttpError, StoreFailure } from '../../src/chassis/index.ts'
import { listen } from './support/app.ts'
import { NO_NOTE, startNotes } from './support/notes.ts'

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
      .then(async (one) => [one.status, one.statusText, await one.text()])
      .catch(() => 'broken off')
    await close(0)
    return { response, emitted }
  }

  const GONE = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].map(errorWith)

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
async function failWith(thrown: unknown, line = 'GET /notes', options = {}) {
  const fail = () => Promise.reject(thrown)
  const service = await startNotes({ listNotes: fail, readNote: fail }, options)
  const response = await service.send(line)
  await service.close()
  return { response, lines: service.lines }
}

test('when the store fails, the response is a 500; only the log has the cause', async () => {
  const failure = new StoreFailure(new Error('the cause'))
  const { response, lines } = await failWith(failure)
  const sent = { message: 'the data store failed', code: 'internal_error' }
  expect([response.status, response.json]).toEqual([500, sent])
  const cause = 'cannot use the data store: the cause'
  expect(lines).toMatchObject([{ level: 'error', status: 500, code: 'internal_error', cause }])
})

test('an error of the service becomes the response of toHttpError, and any other a 500', async () => {
  class Taken extends Error {}
  const toHttpError = (error: unknown) => (error instanceof Taken ? taken : undefined)
  const statusOf = async (error: Error) =>
    (await failWith(error, 'GET /notes', { toHttpError })).response
  expect(await statusOf(new Taken())).toMatchObject({ status: 400, text: taken.body })
  for (const error of [new Error(), new StoreFailure(new Error('x'))])
    expect((await statusOf(error)).status).toBe(500)
})

test('toHttpError does not get an HttpError, which is the response already', async () => {
  const toHttpError = () => taken
  const { response } = await failWith(NO_NOTE, 'GET /notes/1', { toHttpError })
  expect(response.status).toBe(404)
})

test('an error of another class is in the log, too', async () => {
  const mistake = Object.assign(new TypeError('a mistake', { cause: 'why' }), { code: 'X' })
  const { response, lines } = await failWith(mistake)
  expect([response.status, response.text]).toEqual([500, INTERNAL_ERROR])
  const err = { type: 'TypeError', message: 'a mistake', code: 'X', cause: { message: 'why' } }
  expect(lines[0]).toMatchObject({ err })
})

test('an error of toHttpError itself is a 500', async () => {
  const toHttpError = () => {
    throw new Error('a mistake')
  }
  const { response } = await failWith(new Error('x'), 'GET /notes', { toHttpError })
  const json = { message: 'internal error', code: 'internal_error' }
  expect(response).toMatchObject({ status: 500, json })
})

test('rubbish of toHttpError is a 500 that says so, and so is an HttpError that cannot be sent', async () => {
  for (const rubbish of [{ status: 400 }, 'x', Promise.resolve(taken)] as never[]) {
    const { lines } = await failWith(new Error('why'), 'GET /notes', { toHttpError: () => rubbish })
    const message = '`toHttpError` must return an HttpError or undefined'
    expect(lines[0]).toMatchObject({ err: { message, cause: { message: 'why' } } })
  }
  const broken = new HttpError(401, 'unauthorized', 'x', { headers: { 'X-Why': 'a\nb' } })
  const { response, lines } = await failWith(broken)
  expect([response.status, response.text]).toEqual([500, INTERNAL_ERROR])
  expect(lines[1]).toMatchObject({ cause: expect.stringContaining('header content ["X-Why"]') })
})

const endless = new Error('it is its own cause')
endless.cause = endless
const unreadable = (name: string) =>
  Object.defineProperty(new Error('x'), name, { get: () => JSON.parse('') })

test.each([
  ['that cannot be changed', Object.freeze(new Error('frozen')), 'frozen'],
  ['that is its own cause', endless, endless.message],
  ['whose stack cannot be read', unreadable('stack'), 'x'],
  ['whose message is no text', Object.assign(new Error(), { message: 7 }), /no message/],
  ['that cannot be a text', Object.create(null), /no message/],
])('an error %s is a 500 with a line', async (_, error, said) => {
  const { response, lines } = await failWith(error)
  expect([response.status, response.text]).toEqual([500, INTERNAL_ERROR])
  expect(lines).toMatchObject([{}, { operation: 'listNotes', cause: expect.stringMatching(said) }])
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

test.each([undefined, null, 'a text'])('a handler that throws %j gets a 500', async (thrown) => {
  const { response } = await failWith(thrown)
  expect([response.status, response.text]).toEqual([500, INTERNAL_ERROR])
})
