// Every error becomes one response, and those that are the service's fault a line in the log.
import { describe, expect, test } from '@jest/globals'
import Koa from 'koa'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerErrors, noSuchUser, toFailure } from '../src/errors.ts'
import { Budget } from '../src/http/budget.ts'
import { createServer } from '../src/http/server.ts'
import { Failure, internalError, parserFailure } from '../src/http/failure.ts'
import { EmailTaken, StoreFailure } from '../src/store/user-store.ts'
import { failing } from './support/failing-store.ts'
import { everyOperation } from './support/operations.ts'
import { startService } from './support/service.ts'

const errorWith = (code: string) => Object.assign(new Error('x'), { code })

test.each([
  ['HPE_HEADER_OVERFLOW', 431, 'the headers are too large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413, 'the body is too large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408, 'the request did not arrive in time'],
  ['HPE_INVALID_METHOD', 400, 'the request is not valid HTTP'],
])("the parser's error %s becomes a %d", (code, status, message) => {
  const failure = parserFailure(errorWith(code))
  expect(failure).toMatchObject({ status, message, body: JSON.stringify({ message }) })
})

test.each([
  ['a failure', noSuchUser(), 404, 'no user has this id'],
  ['an email that is taken', new EmailTaken('a@x'), 400, expect.stringContaining('`a@x`')],
  ['a failing store', new StoreFailure(new Error('x')), 500, 'the data store failed'],
  ['an unexpected error', new TypeError('x'), 500, 'internal error'],
  ['undefined', undefined, 500, 'internal error'],
])('%s becomes a failure with a status; a 500 keeps its cause', (_, error, status, message) => {
  const failure = toFailure(error)
  expect(failure).toBeInstanceOf(Failure)
  expect(failure).toMatchObject({ status, message, headers: {} })
  expect(failure.cause).toBe(status === 500 ? error : undefined)
})

describe('in an app', () => {
  /** Sends a request to an app of one middleware: the response, if any, and the errors that were emitted. */
  async function ask(middleware: Koa.Middleware, leave = false) {
    const app = new Koa()
    const emitted: unknown[] = []
    app.on('error', (error: Error) => void emitted.push(error.cause ?? error))
    const memory = new Budget()
    answerErrors(app, memory)
    let done = (): void => {}
    const ended = new Promise<void>((resolve) => (done = resolve))
    app.use(async (ctx, next) => {
      try {
        await middleware(ctx, next)
      } finally {
        setImmediate(done)
      }
    })
    const handle = app.callback()
    const { server, close } = createServer((request, response) => void handle(request, response), {
      memory,
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const request = http.get({ port, host: '127.0.0.1', agent: false }).on('error', () => {})
    let answer
    if (leave) {
      await once(server, 'request')
      request.socket?.resetAndDestroy()
    } else {
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      answer = [response.statusCode, response.headers['content-type'], text]
    }
    await ended
    await close(0)
    return { answer, emitted }
  }

  const JSON_TYPE = 'application/json; charset=utf-8'

  test('an unexpected error is a 500 and is emitted once, though it is reported twice', async () => {
    const error = new Error('x')
    const { answer, emitted } = await ask((ctx) => {
      ctx.onerror(error)
      ctx.onerror(error)
    })
    expect(answer).toEqual([500, JSON_TYPE, internalError(error).body])
    expect(emitted).toEqual([error])
  })

  test("an error that is the client's fault is not emitted", async () => {
    const { answer, emitted } = await ask(() => {
      throw noSuchUser()
    })
    expect(answer).toEqual([404, JSON_TYPE, '{"message":"no user has this id"}'])
    expect(emitted).toEqual([])
  })

  test('the end of a successful response is not an error', async () => {
    const { answer, emitted } = await ask((ctx) => {
      ctx.body = 'well'
      ctx.onerror(null as never)
    })
    expect([answer, emitted]).toEqual([[200, 'text/plain; charset=utf-8', 'well'], []])
  })

  const GONE = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].map(errorWith)

  test.each(GONE)('$code before the response is a 500 like any other error', async (error) => {
    const { answer, emitted } = await ask(() => {
      throw error
    })
    expect([answer?.[0], emitted]).toEqual([500, [error]])
  })

  test('an error after the headers changes nothing, and is emitted unless the client left', async () => {
    const other = errorWith('EIO')
    const { answer, emitted } = await ask((ctx) => {
      ctx.respond = false
      ctx.res.writeHead(200, { 'content-type': 'text/x' })
      for (const error of [...GONE, other]) ctx.onerror(error)
      ctx.res.end('begun')
    })
    expect(answer).toEqual([200, 'text/x', 'begun'])
    expect(emitted).toEqual([other])
  })

  test('an error after the client left is emitted unless it only says so', async () => {
    const other = new Error('x')
    const { emitted } = await ask(async (ctx) => {
      await once(ctx.res, 'close')
      for (const error of [...GONE, other]) ctx.onerror(error)
    }, true)
    expect(emitted).toEqual([other])
  })
})

describe('when the store fails', () => {
  test.each(everyOperation)(
    '%s returns a 500 that reveals nothing; the log has the cause and the id of the request',
    async (_, call) => {
      const service = await startService(failing())
      const { response, error } = await call(service.users)
      expect([response.status, error]).toEqual([500, { message: 'the data store failed' }])
      await service.close()
      const [failure, answered] = service.lines
      expect(failure).toMatchObject({ level: 50, err: { cause: { message: 'the cause' } } })
      expect(answered).toMatchObject({ status: 500, id: failure!['id'] })
    },
  )

  test('the log does not have the document that the driver attaches to its error', async () => {
    const cause = Object.assign(new Error('the cause'), { op: { email: 'secret' }, code: 7 })
    const service = await startService(failing({}, cause))
    await service.users.GET('/users')
    await service.close()
    expect(JSON.stringify(service.lines)).not.toContain('secret')
    expect(service.lines[0]).toMatchObject({ err: { cause: { code: 7 } } })
  })

  test('an unexpected error is a 500, too, and is in the log', async () => {
    const find = async () => {
      throw new TypeError('a mistake')
    }
    const service = await startService(failing({ find }))
    const { status, json } = await service.send('GET /users/x')
    expect([status, json]).toEqual([500, { message: 'internal error' }])
    await service.close()
    expect(service.lines[0]).toMatchObject({ err: { message: 'a mistake' } })
  })
})
