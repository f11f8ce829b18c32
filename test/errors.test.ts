// What becomes of an error: its answer, and whether the log hears of it.
import { describe, expect, test } from '@jest/globals'
import Koa from 'koa'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerErrors, noSuchUser, toFailure, unknownEmail } from '../src/errors.ts'
import {
  Failure,
  internalError,
  invalidBody,
  methodNotAllowed,
  noSuchPath,
  parserFailure,
  unauthorized,
  unsupportedMediaType,
} from '../src/http/failure.ts'
import { EmailTaken, StoreFailure } from '../src/store/user-store.ts'

const codeError = (code: string) => Object.assign(new Error('x'), { code })

test.each([
  ['HPE_HEADER_OVERFLOW', 431, 'the headers are too large'],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413, 'the body is too large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408, 'the request did not arrive in time'],
  ['HPE_INVALID_METHOD', 400, 'the request is not valid HTTP'],
])('what the parser calls %s is a %d', (code, status, message) => {
  const failure = parserFailure(codeError(code))
  expect(failure).toMatchObject({ status, message, body: JSON.stringify({ message }) })
})

test.each([
  ['a failure', noSuchUser(), 404, 'no user has this id'],
  ['an email that is taken', new EmailTaken('a@x'), 400, expect.stringContaining('`a@x`')],
  ['a store that fails', new StoreFailure(new Error('x')), 500, 'the data store failed'],
  ['a mistake', new TypeError('x'), 500, 'internal error'],
  ['no error at all', undefined, 500, 'internal error'],
])('the answer to %s', (_, error, status, message) => {
  const failure = toFailure(error)
  expect(failure).toBeInstanceOf(Failure)
  expect(failure).toMatchObject({ status, message, headers: {} })
  expect(failure.cause).toBe(status === 500 ? error : undefined)
})

const CHALLENGE = { 'WWW-Authenticate': 'Bearer' }

test.each([
  ['no valid token', unauthorized(), 401, 'a valid bearer token is required', CHALLENGE],
  ['an unknown email', unknownEmail(), 401, 'no user has this email', CHALLENGE],
  ['an unknown path', noSuchPath(), 404, 'there is nothing at this path', {}],
  [
    'another method',
    methodNotAllowed('PATCH', 'GET'),
    405,
    'this path does not have the method PATCH',
    { Allow: 'GET' },
  ],
  ['another media type', unsupportedMediaType('no form'), 415, 'no form', {}],
  ['an invalid body', invalidBody('no object'), 400, 'no object', {}],
])('the answer to %s says so', (_, failure, status, message, headers) => {
  expect(failure).toMatchObject({ status, message, headers })
})

test('a failure keeps its headers, and its cause', () => {
  const cause = new Error('x')
  const failure = new Failure(405, 'no', { headers: { Allow: 'GET' }, cause })
  expect([failure.headers, failure.cause]).toEqual([{ Allow: 'GET' }, cause])
})

describe('of an app', () => {
  /** Asks an app of one middleware: its answer, if there is one, and the errors that it emitted. */
  async function ask(middleware: Koa.Middleware, leave = false) {
    const app = new Koa()
    const emitted: unknown[] = []
    app.on('error', (error: Error) => void emitted.push(error.cause ?? error))
    answerErrors(app)
    let done = (): void => {}
    const ended = new Promise<void>((resolve) => (done = resolve))
    app.use(async (ctx, next) => {
      try {
        await middleware(ctx, next)
      } finally {
        setImmediate(done)
      }
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const request = http.get({ port, host: '127.0.0.1', agent: false }).on('error', () => {})
    let answer
    if (leave) {
      await once(server, 'request')
      request.destroy()
    } else {
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      answer = [response.statusCode, response.headers['content-type'], text]
    }
    await ended
    server.close()
    return { answer, emitted }
  }

  const JSON_TYPE = 'application/json; charset=utf-8'

  test('its own fault is answered, and emitted once, however often it comes', async () => {
    const error = new Error('x')
    const { answer, emitted } = await ask((ctx) => {
      ctx.onerror(error)
      ctx.onerror(error)
    })
    expect(answer).toEqual([500, JSON_TYPE, internalError(error).body])
    expect(emitted).toEqual([error])
  })

  test('the fault of the client is answered, and not emitted', async () => {
    const { answer, emitted } = await ask(() => {
      throw noSuchUser()
    })
    expect(answer).toEqual([404, JSON_TYPE, '{"message":"no user has this id"}'])
    expect(emitted).toEqual([])
  })

  test('an answer that goes well is none', async () => {
    const { answer, emitted } = await ask((ctx) => {
      ctx.body = 'well'
      ctx.onerror(null as never)
    })
    expect([answer, emitted]).toEqual([[200, 'text/plain; charset=utf-8', 'well'], []])
  })

  const GONE = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].map(codeError)

  test.each(GONE)('before the answer $code is a fault like any other', async (error) => {
    const { answer, emitted } = await ask(() => {
      throw error
    })
    expect([answer?.[0], emitted]).toEqual([500, [error]])
  })

  test('an answer that has begun stays as it is; a client that is gone is nobody’s fault', async () => {
    const other = codeError('EIO')
    const { answer, emitted } = await ask((ctx) => {
      ctx.respond = false
      ctx.res.writeHead(200, { 'content-type': 'text/x' })
      for (const error of [...GONE, other]) ctx.onerror(error)
      ctx.res.end('begun')
    })
    expect(answer).toEqual([200, 'text/x', 'begun'])
    expect(emitted).toEqual([other])
  })

  test('a client that left before its answer is nobody’s fault, but what fails then is', async () => {
    const other = new Error('x')
    const { emitted } = await ask(async (ctx) => {
      await once(ctx.res, 'close')
      for (const error of [...GONE, other]) ctx.onerror(error)
    }, true)
    expect(emitted).toEqual([other])
  })
})
