// How the client logs in, and how it reads all users. (Its operations are used by the other tests.)
import { beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { User, UsersClient, UsersClientOptions } from '../../src/client/client.ts'
import { createUsersClient, PageFailed } from '../../src/client/client.ts'
import { clientExamples } from '../support/readme.ts'
import { checkedFetch, useService } from '../support/service.ts'
import { listen } from '../chassis/support/app.ts'
import { createTokens } from '../chassis/support/internals.ts'
import { tokens } from '../chassis/support/requests.ts'
import { createIn, sqlitePlace, usersIn, useStore } from '../support/stores.ts'
import { newUser } from '../support/users.ts'

const REFUSED = createTokens(['another-secret-of-at-least-32-bytes'], 60).issue('x')
const token = tokens.issue('665f1c2e8b3f4a0012d4c001')
const email = 'ada@example.com'

const store = useStore(sqlitePlace)
const service = useService(store)
beforeAll(() => store().create(newUser({ name: 'Ada', email })))

/** The requests and their statuses, such as `POST /login 200`. */
const sent: string[] = []
beforeEach(() => void (sent.length = 0))

const client = (options: Partial<UsersClientOptions> = {}) =>
  createUsersClient({ baseUrl: `http://127.0.0.1:${service().port}`, fetch: noted, ...options })

async function noted(request: Request): Promise<Response> {
  const response = await checkedFetch(request)
  sent.push(`${request.method} ${new URL(request.url).pathname} ${response.status}`)
  return response
}

/** The status of GET /users. */
const list = async (users: UsersClient) => (await users.GET('/users')).response.status

const LOG_IN = 'POST /login 200'

test('the global fetch is looked up at each call: tests and monitoring replace it later', async () => {
  const users = createUsersClient({ baseUrl: `http://127.0.0.1:${service().port}`, email })
  const replaced = jest.spyOn(globalThis, 'fetch')
  expect(await list(users)).toBe(200)
  expect(replaced).toHaveBeenCalledTimes(2) // the log-in, and the list
  replaced.mockRestore()
})

describe('with an email', () => {
  test('after a 401 it logs in again and repeats the call with its body', async () => {
    const users = client({ email, token: REFUSED })
    const { data } = await users.POST('/users', { body: newUser({ name: 'Grace' }) })
    expect(data).toMatchObject({ name: 'Grace' })
    expect(sent).toEqual(['POST /users 401', LOG_IN, 'POST /users 201'])
  })

  test('calls that get 401 share one log-in, even if one gets it later', async () => {
    const users = client({
      email,
      token: REFUSED,
      async fetch(request) {
        const response = await noted(request)
        if (request.url.endsWith('late') && response.status === 401) {
          while (!sent.includes('GET /users 200')) await setImmediate()
        }
        return response
      },
    })
    const late = users.GET('/users/{id}', { params: { path: { id: 'late' } } })
    expect(await Promise.all([list(users), list(users)])).toEqual([200, 200])
    expect((await late).response.status).toBe(404)
    expect(sent.filter((line) => line === LOG_IN)).toHaveLength(1)
  })

  test('a 401 that is not returned is cancelled, so that its connection is free again', async () => {
    let isCancelled = false
    const cancel = () => void (isCancelled = true)
    const refused = new Response(new ReadableStream({ cancel }), { status: 401 })
    const responses = [refused, Response.json({ token: 'x' }), Response.json([])]
    const users = client({ email, token: REFUSED, fetch: async () => responses.shift()! })
    expect(await list(users)).toBe(200)
    expect(isCancelled).toBe(true)
  })

  test('a second 401 is returned, without another log-in', async () => {
    const users = client({
      email,
      fetch: (request) => {
        request.headers.delete('Authorization')
        return noted(request)
      },
    })
    expect(await list(users)).toBe(401)
    expect(sent).toEqual([LOG_IN, 'GET /users 401', LOG_IN, 'GET /users 401'])
  })

  test('a log-in that is refused is the response to its calls; the next tries again', async () => {
    const email = 'later@example.com'
    const users = client({ email, token: REFUSED })
    const calls = await Promise.all([users.GET('/users'), users.GET('/users')])
    const error = { message: 'no user has this email', code: 'email_not_found' }
    const refused = { error, response: { status: 401 } }
    expect(calls).toMatchObject([refused, refused])
    await store().create(newUser({ email }))
    expect(await list(users)).toBe(200)
  })

  test('a call whose signal aborts does not wait for a log-in, which other calls still use', async () => {
    let respond = (): void => {}
    const hanging = new Promise<void>((resolve) => (respond = resolve))
    const users = client({
      email,
      async fetch(request) {
        if (request.url.endsWith('/login')) await hanging
        return noted(request)
      },
    })
    await expect(users.GET('/users', { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
    const call = new AbortController()
    const aborted = users.GET('/users', { signal: call.signal })
    const other = list(users)
    call.abort()
    await expect(aborted).rejects.toThrow('aborted')
    respond()
    expect(await other).toBe(200)
    expect(sent).toEqual([LOG_IN, 'GET /users 200'])
  })

  test('other options are passed to openapi-fetch and fetch; the second attempt has the signal, too', async () => {
    const passed: unknown[] = []
    const ext = { dispatcher: 'its own' }
    const users = client({
      email,
      token: REFUSED,
      headers: { 'X-Request-Id': 'mine' },
      requestInitExt: ext,
      fetch(request: Request, ...more: unknown[]) {
        passed.push([request.headers.get('X-Request-Id'), ...more])
        return noted(request)
      },
    })
    expect(await list(users)).toBe(200)
    const signal = expect.any(AbortSignal)
    expect(passed).toEqual([
      ['mine', ext],
      ['mine', ext],
      ['mine', { ...ext, signal }],
    ])
  })

  test('a call with its own Authorization header is sent unchanged', async () => {
    const headers = { Authorization: `Bearer ${REFUSED}` }
    await client({ email }).GET('/users', { headers })
    expect(sent).toEqual(['GET /users 401'])
  })
})

describe('all()', () => {
  let stored: User[]
  beforeAll(async () => {
    const users = Array.from({ length: 2_001 }, () => newUser())
    await createIn(store(), users)
    stored = await usersIn(store())
  })

  test('yields users in order of creation, in pages of 1,000', async () => {
    const all: User[] = []
    for await (const user of client({ token }).all()) all.push(user)
    expect(all).toEqual(stored)
    expect(sent).toEqual(['GET /users 200', 'GET /users 200', 'GET /users 200'])
  })

  test('rejects with the reason of its signal, also between two users of a page', async () => {
    const stop = new AbortController()
    const all = client({ token }).all({ signal: stop.signal })
    await all.next()
    stop.abort('enough')
    await expect(all.next()).rejects.toBe('enough')
    expect(sent).toEqual(['GET /users 200'])
  })

  test('throws the status, the message and the code of a page that fails', async () => {
    const refused = client({ token: REFUSED }).all().next()
    await expect(refused).rejects.toThrow(PageFailed)
    const error = { message: 'a valid bearer token is required', code: 'unauthorized' }
    await expect(refused).rejects.toMatchObject({ status: 401, ...error })
  })

  test('throws PageFailed when a page links to one that is not after it, as the pages of a mock do', async () => {
    let pages = 0
    const fetch = async () => {
      const headers = { Link: '</users?after=a>; rel="next"' }
      return Response.json([{ id: `${(pages += 1)}` }], { headers })
    }
    const all = client({ fetch }).all()
    expect((await all.next()).value).toEqual({ id: '1' })
    await expect(all.next()).rejects.toThrow(PageFailed)
  })

  test('throws PageFailed when a page is not a list', async () => {
    const all = client({ fetch: async () => Response.json({}) }).all()
    await expect(all.next()).rejects.toMatchObject({ name: 'PageFailed', status: 200 })
  })

  test('throws PageFailed with a cause when a page breaks off, and when the service is down', async () => {
    const server = http.createServer((_, page) => page.write('[', () => page.destroy()))
    const baseUrl = await urlOf(server)
    const first = () => client({ baseUrl, fetch: globalThis.fetch }).all().next()
    const failed = { name: 'PageFailed', status: undefined, code: undefined }
    await expect(first()).rejects.toMatchObject({ ...failed, cause: { message: 'terminated' } })
    await once(server.close(), 'close')
    await expect(first()).rejects.toMatchObject({ ...failed, cause: { message: 'fetch failed' } })
  })

  test.each([
    ['<https://example.com/users?after=a>; title="x"; rel="next"', ['a']],
    ['</>; rel="up", </users?after=a>; rel="next"', ['a']],
    ['</users?after=a>; rel="prev"', []],
  ])('reads the header Link: %s', async (link, after) => {
    const asked: unknown[] = []
    const fetch = async (request: Request) => {
      asked.push(new URL(request.url).searchParams.get('after'))
      return Response.json([], { headers: asked.length === 1 ? { link } : {} })
    }
    for await (const user of client({ fetch }).all()) throw new Error(user.id)
    expect(asked).toEqual([null, ...after])
  })
})

const urlOf = async (server: net.Server) => `http://127.0.0.1:${await listen(server.unref())}`

describe('when something other than the service responds', () => {
  const NOT_OURS = 'the response does not come from the Users Service'
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor

  /** The address of a server with this one response. */
  async function serverWith(response: string): Promise<string> {
    const bytes = `HTTP/1.1 ${response.replaceAll('\n', '\r\n')}`
    return urlOf(net.createServer((one) => one.once('data', () => one.end(bytes))))
  }

  // The bodies have spaces between them; the first one is empty.
  test.each([
    ['403 Forbidden', 'Forbidden', ' <h1> "no" null [] {"message":{}} {"message":""}'],
    ['500 Error\nContent-Type: text/plain\nContent-Length: 0', 'Error', ''], // as Vite does
    ['502 ', 'HTTP 502', ' <h1>'],
    ['200 OK', NOT_OURS, ' <h1> null'],
    ['204 No Content', NOT_OURS, ''],
  ])('the code of its README throws its error: %j', async (head, message, bodies) => {
    for (const body of bodies.split(' '))
      for (const as of [{ email }, { email: undefined, token: 'x' }])
        for (const { code } of clientExamples) {
          const baseUrl = await serverWith(`${head}\n\n${body}`)
          const create = (options: object) => createUsersClient({ ...options, baseUrl, ...as })
          const run = AsyncFunction('createUsersClient', code.replace(/^import .*/, ''))
          await expect(run(create)).rejects.toThrow(message)
        }
  })

  test.each([
    ['{"message":"later","code":"unknown_code"}', { message: 'later', code: 'unknown_code' }],
    ['{"message":"later","code":7}', { message: 'later' }],
  ])(
    'the code of an error is passed on if it is a text beside a message: %s',
    async (body, error) => {
      const baseUrl = await serverWith(`429 Too Many Requests\n\n${body}`)
      const users = createUsersClient({ baseUrl })
      expect((await users.GET('/users')).error).toEqual(error)
    },
  )

  const WITHOUT_TOKEN = ['204 No Content\n\n', '200 OK\n\n{}']
  test.each(WITHOUT_TOKEN)('each log-in fails: %j', async (response) => {
    const users = createUsersClient({ baseUrl: await serverWith(response), email })
    for (let i = 0; i < 2; i += 1)
      expect((await users.GET('/users')).error).toEqual({ message: NOT_OURS })
  })
})

test('a HEAD that succeeds has no error, and one that fails has one', async () => {
  const { HEAD } = client({ token }) as unknown as { HEAD: (path: string) => Promise<object> }
  expect(await HEAD('/users')).toEqual({ data: undefined, response: expect.anything() })
  expect(await HEAD('/users/x')).toMatchObject({ error: { message: 'Not Found' } })
})
