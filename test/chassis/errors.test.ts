// Every error becomes one response, and those that are the service's fault a line in the log.
import { describe, expect, test } from '@jest/globals'
import Koa from 'koa'
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { respondToErrors } from '../../src/chassis/errors.ts'
import { createServer } from '../../src/chassis/http/server.ts'
import { failing } from '../support/failing-store.ts'
import { everyOperation } from '../support/operations.ts'
import { listen } from './support/app.ts'
import { startService } from '../support/service.ts'

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

test.each(everyOperation)(
  'when the store fails, %s is a 500; only the log has the cause',
  async (_, call) => {
    const service = await startService(failing())
    const { response, error } = await call(service.users)
    const sent = { message: 'the data store failed', code: 'internal_error' }
    expect([response.status, error]).toEqual([500, sent])
    await service.close()
    const cause = 'cannot use the data store: the cause'
    expect(service.lines).toMatchObject([{ level: 50, status: 500, code: 'internal_error', cause }])
  },
)

test('the line of a request has the code of its response, and that of no other', async () => {
  const service = await startService(failing())
  for (const path of ['/x', '/docs']) await fetch(`http://127.0.0.1:${service.port}${path}`)
  await service.close()
  expect(service.lines.map(({ code }) => code)).toEqual(['path_not_found', undefined])
})

test('an error of another class is in the log, too', async () => {
  const mistake = Object.assign(new TypeError('a mistake', { cause: 'why' }), { code: 'X' })
  const find = () => Promise.reject(mistake)
  const service = await startService(failing({ find }))
  const { status, json } = await service.send('GET /users/x')
  expect([status, JSON.stringify(json)]).toEqual([500, INTERNAL_ERROR])
  await service.close()
  const err = { type: 'TypeError', message: 'a mistake', code: 'X', cause: { message: 'why' } }
  expect(service.lines[0]).toMatchObject({ err })
})

test('the log does not have the document or the email that the driver attaches to its error', async () => {
  const message = 'E11000 duplicate key error index: email dup key: { email: "secret\nx" }'
  const cause = Object.assign(new Error(message), { op: { email: 'secret' }, code: 7 })
  const service = await startService(failing({}, cause))
  await service.users.GET('/users')
  await service.close()
  expect(JSON.stringify(service.lines)).not.toContain('secret')
  const shown = expect.stringContaining('E11000 duplicate key error index: email')
  expect(service.lines).toMatchObject([{ status: 500, cause: shown }])
})
