// Every error becomes one response, and those that are the service's fault are emitted.
import { describe, expect, test } from '@jest/globals'
import Koa from 'koa'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { respondToErrors } from '../../src/chassis/errors.ts'
import { StoreFailure } from '../../src/chassis/failure.ts'
import { HttpError } from '../../src/chassis/http/http-error.ts'
import { createServer } from '../../src/chassis/http/server.ts'
import { listen, useStarted } from './support/app.ts'
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

const TEAPOT = new Error('short and stout')

test.each([
  [TEAPOT, 400, '{"message":"short and stout","code":"teapot"}'],
  [new StoreFailure(TEAPOT), 500, '{"message":"the data store failed","code":"internal_error"}'],
  [new TypeError('x'), 500, INTERNAL_ERROR],
])('%s of a handler is %i: the service knows its own errors', async (thrown, status, text) => {
  const readNote = () => Promise.reject(thrown)
  const toHttpError = (one: unknown) =>
    one === TEAPOT ? new HttpError(400, 'teapot', TEAPOT.message) : undefined
  const service = await startNotes({ readNote }, { toHttpError })
  const response = await fetch(`http://127.0.0.1:${service.port}/notes/x`)
  expect([response.status, await response.text()]).toEqual([status, text])
  await service.close()
})

const cached = useStarted(() =>
  startNotes(
    { readNote: () => Promise.reject(TEAPOT) },
    {
      guard(ctx, next) {
        if (ctx.path === '/open') ctx.set('Cache-Control', 'max-age=60')
        if (ctx.path !== '/refused') return next()
        throw new HttpError(401, 'unauthorized', 'no')
      },
    },
  ),
)

test.each([
  ['GET /notes', 200, 'no-store'],
  ['POST /notes', 400, 'no-store'],
  ['GET /notes/x', 500, 'no-store'],
  ['PUT /notes', 405, 'no-store'],
  ['GET /nothing', 404, 'no-store'],
  ['GET /refused', 401, 'no-store'],
  ['GET /open', 404, 'max-age=60'],
])(
  '%s is %i, with Cache-Control: %s, unless the guard says otherwise',
  async (line, status, control) => {
    const [method = '', path] = line.split(' ')
    const response = await fetch(`http://127.0.0.1:${cached().port}${path}`, { method })
    expect([response.status, response.headers.get('cache-control')]).toEqual([status, control])
  },
)
