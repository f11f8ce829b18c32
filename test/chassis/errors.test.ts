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
  expect(lines).toMatchObject([{ level: 50, status: 500, code: 'internal_error', cause }])
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

test.each([undefined, null, 'a text'])('a handler that throws %j gets a 500', async (thrown) => {
  const { response } = await failWith(thrown)
  expect([response.status, response.text]).toEqual([500, INTERNAL_ERROR])
})
