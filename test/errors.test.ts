// Every error becomes one response, and those that are the service's fault a line in the log.
import { describe, expect, test } from '@jest/globals'
import Koa from 'koa'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { respondToErrors } from '../src/errors.ts'
import { createServer } from '../src/http/server.ts'
import { internalError } from '../src/failure.ts'
import { failing } from './support/failing-store.ts'
import { everyOperation } from './support/operations.ts'
import { startService } from './support/service.ts'

const errorWith = (code: string) => Object.assign(new Error('x'), { code })

describe('in an app', () => {
  /** Sends a request to an app of one middleware: the response, if any, and the errors that were emitted. */
  async function ask(middleware: Koa.Middleware, leave = false) {
    const app = new Koa()
    const emitted: unknown[] = []
    app.on('error', (error: Error) => void emitted.push(error.cause ?? error))
    respondToErrors(app)
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
    const { server, close } = createServer((request, response) => void handle(request, response))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const request = http.get({ port, host: '127.0.0.1', agent: false }).on('error', () => {})
    let answer
    if (leave) {
      await once(server, 'request')
      request.socket?.resetAndDestroy()
    } else {
      answer = await receive(request).catch(({ code }) => code as string)
    }
    await ended
    await close(0)
    return { answer, emitted }
  }

  async function receive(request: http.ClientRequest) {
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    let text = ''
    for await (const chunk of response.setEncoding('utf8')) text += chunk
    return [response.statusCode, response.headers['content-type'], text]
  }

  const JSON_TYPE = 'application/json; charset=utf-8'

  test('an unexpected error is a 500 and is emitted once, though it is reported twice', async () => {
    const error = new Error('x')
    const { answer, emitted } = await ask((ctx) => {
      ctx.onerror(error)
      ctx.onerror(error)
    })
    expect(answer).toEqual([500, JSON_TYPE, internalError(error).body.toString()])
    expect(emitted).toEqual([error])
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

  test('an error after the headers resets the connection, and is emitted, unless the client left', async () => {
    const other = errorWith('EIO')
    const app = (errors: Error[]) =>
      ask((ctx) => {
        ctx.respond = false
        ctx.res.writeHead(200, { 'content-type': 'text/x' }).write('begun')
        for (const error of errors) ctx.onerror(error)
        setImmediate(() => ctx.res.end())
      })
    expect(await app(GONE)).toEqual({ answer: [200, 'text/x', 'begun'], emitted: [] })
    expect(await app([other])).toEqual({ answer: 'ECONNRESET', emitted: [other] })
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
      const cause = 'cannot use the data store: the cause'
      expect(answered).toMatchObject({ status: 500, id: failure!['id'], cause })
    },
  )

  test('the log does not have the document or the email that the driver attaches to its error', async () => {
    const message = 'E11000 duplicate key error index: email dup key: { email: "secret\nx" }'
    const cause = Object.assign(new Error(message), { op: { email: 'secret' }, code: 7 })
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
