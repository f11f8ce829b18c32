// Every error becomes one response, and those that are the service's fault a line in the log.
import { expect, test } from '@jest/globals'
import type Koa from 'koa'
import { once } from 'node:events'
import { HttpError, StoreFailure, type Guard } from '../../src/chassis/index.ts'
import { says, textFrom, until } from './support/clients.ts'
import { startNotes } from './support/notes.ts'
import { CLOSE, get } from './support/requests.ts'

const INTERNAL_ERROR = '{"message":"internal error","code":"internal_error"}'
const errorWith = (code: string) => Object.assign(new Error('x'), { code })
const GONE = ['ABORT_ERR', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].map(errorWith)

/** A guard that uses Koa's context. */
const guardBy = (use: (ctx: Koa.Context) => unknown) => use as unknown as Guard<string>

test('a 500 has its own reason, whatever was set before', async () => {
  const guard = guardBy((ctx) => {
    ctx.status = 201
    throw errorWith('EIO')
  })
  const { port } = await startNotes({}, { guard })
  const { statusText } = await fetch(`http://127.0.0.1:${port}`)
  expect(statusText).toBe('Internal Server Error')
})

test.each(GONE)('$code of another service breaks off a response that has begun', async (error) => {
  const guard = guardBy((ctx) => {
    ctx.res.write('x')
    throw error
  })
  const { port, lines, close } = await startNotes({}, { guard })
  expect(await textFrom(says(get('/notes')), port)).not.toMatch(/\r\n0\r\n\r\n$/)
  await close()
  expect(lines).toMatchObject([{ err: { code: error.code } }, { aborted: 'failed' }])
})

test('after an error that comes after the whole response, the client has all of it', async () => {
  const text = 'x'.repeat(5_000_000) // more than the kernel takes
  const guard = guardBy((ctx) => {
    ctx.res.end(text)
    throw new Error('why')
  })
  const { exchange, lines } = await startNotes({}, { guard })
  expect((await exchange(get('/notes', CLOSE))).endsWith(`\r\n\r\n${text}`)).toBe(true)
  expect(lines[0]).toMatchObject({ err: { message: 'why' } })
})

test('an error after the client left has a line unless it only says so', async () => {
  const guard = guardBy(async (ctx) => {
    socket.destroy()
    await once(ctx.res, 'close')
    for (const error of GONE) ctx.onerror(error)
    throw new Error('another')
  })
  const { port, lines } = await startNotes({}, { guard })
  const socket = says(get('/notes'))(port)
  await until(() => lines.length > 1)
  expect(lines).toMatchObject([{ aborted: 'left' }, { err: { message: 'another' } }])
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

test('a 5xx of a handler is a line, also without a cause', async () => {
  const { response, lines } = await failWith(new HttpError(500, 'internal_error', 'could not list'))
  expect(response).toEqual([500, INTERNAL_ERROR.replace('internal error', 'could not list')])
  const err = { message: 'could not list', stack: expect.stringContaining('errors.test') }
  expect(lines).toMatchObject([{ err }, { cause: 'could not list' }])
})

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
const CAUSED = new HttpError(500, 'internal_error', 'later', { cause: WHY })
const UNAVAILABLE = new HttpError(500, 'internal_error', 'come back', {
  headers: { 'Retry-After': '9' },
})

test.each<[string, unknown, (error: unknown) => unknown, HttpError | 500, string]>([
  ['an error of the service', new Taken(), translate, taken, ''],
  ['any other error', WHY, translate, 500, 'why'],
  ['an HttpError', INVALID, () => taken, INVALID, ''],
  ['an error in toHttpError', WHY, () => JSON.parse('['), 500, '`toHttpError` has thrown: Unexp'],
  ['a promise', WHY, async () => taken, 500, '`toHttpError` must return'],
  ['an error of which it makes a 5xx', WHY, () => UNAVAILABLE, UNAVAILABLE, 'why'],
  ['an error of which it makes a 5xx with a cause', new Error('x'), () => CAUSED, CAUSED, 'why'],
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

const fail = () => {
  throw new Error('no')
}
const endless = new Error('it is its own cause')
endless.cause = endless
const headers = { 'X-Why': 'a\nb' }

test.each([
  ['of another class', Object.assign(new TypeError('x', { cause: 'why' }), { code: 'X' }), 'x'],
  ['that cannot be changed', Object.freeze(new Error('frozen')), 'frozen'],
  ['that is its own cause', endless, endless.message],
  ...GONE.map((error) => [`with the code ${error.code}`, error, 'x'] as const),
  ['whose message is no text', Object.assign(new Error(), { message: 7 }), /no message/],
  ['that cannot be a text', Object.create(null), /no message/],
  ['that is undefined', undefined, 'undefined'],
  ['whose stack is no text', Object.assign(new Error('odd'), { stack: [1] }), 'odd'],
  ['whose code throws', Object.defineProperty(new Error('odd'), 'code', { get: fail }), 'odd'],
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
  ['an undocumented status', { status: 299, body: [] }, /the status 299, which/],
  ['no body', { status: 200 }, /the status 200 without a body, which/],
  ['a body that has itself inside', { status: 200, body: self }, /circular/],
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
