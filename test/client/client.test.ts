// How the client logs in, and how it reads all users. (Its operations are used by the other tests.)
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createUsersClient,
  PageFailed,
  type User,
  type UsersClient,
  type UsersClientOptions,
} from '../../src/client/client.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { checkedFetch, useService } from '../support/service.ts'
import { sqlitePlace, useStore } from '../support/stores.ts'
import { newUser } from '../support/users.ts'

const REFUSED = createTokens(['another-secret-of-at-least-32-bytes'], 60).issue('x')
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
const TWENTY = Array.from({ length: 20 }, () => 200)

const LOG_IN = 'POST /login 200'
const logIns = () => sent.filter((line) => line === LOG_IN)

describe('with an email', () => {
  test('it logs in once, when a token is first needed', async () => {
    const users = client({ email })
    expect(sent).toEqual([])
    expect((await users.GET('/users')).data).toMatchObject([{ name: 'Ada' }])
    await users.GET('/users')
    expect(sent).toEqual([LOG_IN, 'GET /users 200', 'GET /users 200'])
  })

  test('simultaneous calls share one log-in', async () => {
    const users = client({ email })
    expect(await Promise.all(TWENTY.map(() => list(users)))).toEqual(TWENTY)
    expect(logIns()).toHaveLength(1)
  })

  test('after a 401 it logs in again and repeats the call with its body', async () => {
    const users = client({ email, token: REFUSED })
    const { data } = await users.POST('/users', { body: newUser({ name: 'Grace' }) })
    expect(data).toMatchObject({ name: 'Grace' })
    expect(sent).toEqual(['POST /users 401', LOG_IN, 'POST /users 201'])
    expect((await users.GET('/users')).data).toHaveLength(2)
  })

  test('calls that get 401 share one log-in, even if one gets it later', async () => {
    const users = client({
      email,
      token: REFUSED,
      async fetch(request) {
        const response = await noted(request)
        if (request.url.endsWith('late') && response.status === 401) {
          while (!sent.includes('GET /users 200')) await new Promise(setImmediate)
        }
        return response
      },
    })
    const late = users.GET('/users/{id}', { params: { path: { id: 'late' } } })
    expect(await Promise.all(TWENTY.map(() => list(users)))).toEqual(TWENTY)
    expect((await late).response.status).toBe(404)
    expect(logIns()).toHaveLength(1)
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

  test('a refused log-in is the response to every call that waits for it', async () => {
    const users = client({ email: 'grace@example.com' })
    const calls = await Promise.all([users.GET('/users'), users.GET('/users')])
    for (const { response, error } of calls) {
      expect([response.status, error]).toEqual([401, { message: 'no user has this email' }])
    }
    expect(sent).toEqual(['POST /login 401'])
    await store().create(newUser({ email: 'grace@example.com' }))
    expect(await list(users)).toBe(200)
  })

  test('a log-in that is refused after a 401 is the response, and the next call tries again', async () => {
    const users = client({ email: 'late@example.com', token: REFUSED })
    expect((await users.GET('/users')).error).toEqual({ message: 'no user has this email' })
    await store().create(newUser({ email: 'late@example.com' }))
    expect(await list(users)).toBe(200)
  })

  test('a call rejects when the service cannot be reached, and the next call tries again', async () => {
    let down = true
    const users = client({
      email,
      fetch: (request) => (down ? Promise.reject(new TypeError('fetch failed')) : noted(request)),
    })
    await expect(users.GET('/users')).rejects.toThrow('fetch failed')
    down = false
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

  test('a path that ends with /login is not a log-in', async () => {
    await client({ email }).GET('/users/{id}', { params: { path: { id: 'login' } } })
    expect(sent).toEqual([LOG_IN, 'GET /users/login 404'])
  })

  test('other options are passed to openapi-fetch and fetch', async () => {
    const args: unknown[] = []
    const users = client({
      email,
      headers: { 'X-Request-Id': 'mine' },
      requestInitExt: { dispatcher: 'mine' },
      fetch: (request: Request, ...more: unknown[]) => {
        args.push(request.headers.get('X-Request-Id'), ...more)
        return noted(request)
      },
    })
    await users.GET('/users')
    const once = ['mine', { dispatcher: 'mine' }]
    expect(args).toEqual([...once, ...once])
  })

  test('a call with its own Authorization header is sent unchanged', async () => {
    const headers = { Authorization: `Bearer ${REFUSED}` }
    await client({ email }).GET('/users', { headers })
    expect(sent).toEqual(['GET /users 401'])
  })

  test('POST /login is sent without a log-in before it', async () => {
    const { response } = await client({ email }).POST('/login', { body: { email } })
    expect([response.status, sent]).toEqual([200, [LOG_IN]])
  })
})

describe('all()', () => {
  const own = useStore(sqlitePlace)
  const ours = useService(own)
  const users = (options: Partial<UsersClientOptions> = {}) =>
    client({ baseUrl: `http://127.0.0.1:${ours().port}`, email, ...options })
  const created: User[] = []

  beforeAll(async () => {
    const names = Array.from({ length: 2_001 }, (_, i) => `${i}`)
    const one = (name: string) => own().create(newUser(name === '0' ? { name, email } : { name }))
    created.push(...(await Promise.all(names.map(one))))
  })

  test('yields users in order of creation, in pages of 1,000, and logs in for them', async () => {
    const all: User[] = []
    for await (const user of users().all()) all.push(user)
    expect(all).toEqual(created)
    expect(sent).toEqual([LOG_IN, 'GET /users 200', 'GET /users 200', 'GET /users 200'])
  })

  test('fetches a page only when it is needed', async () => {
    for await (const user of users().all()) if (user.id === created[999]!.id) break
    expect(sent).toEqual([LOG_IN, 'GET /users 200'])
  })

  test('rejects with the reason of its signal, also between two users of a page', async () => {
    const stop = new AbortController()
    const all = users().all({ signal: stop.signal })
    await all.next()
    stop.abort('enough')
    await expect(all.next()).rejects.toBe('enough')
    expect(sent).toEqual([LOG_IN, 'GET /users 200'])
  })

  test('yields nothing when there are no users', async () => {
    const [id, ...others] = created.map(({ id }) => id)
    await Promise.all(others.map((one) => own().remove(one)))
    const one = users()
    for await (const { id: only } of one.all()) expect(only).toBe(id)
    await own().remove(id!)
    for await (const user of one.all()) throw new Error(user.id)
  })

  test('throws the status and the message of a page that fails', async () => {
    const refused = users({ email: 'nobody@example.com' }).all().next()
    await expect(refused).rejects.toThrow(PageFailed)
    await expect(refused).rejects.toMatchObject({ status: 401, message: 'no user has this email' })
    const fetch = async () => new Response('<h1>', { status: 502, statusText: 'Bad Gateway' })
    const broken = users({ email: undefined!, token: 'x', fetch }).all().next()
    await expect(broken).rejects.toMatchObject({ status: 502, message: 'Bad Gateway' })
  })

  describe('from another server', () => {
    const server = http.createServer()
    beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
    afterAll(() => server.closeAllConnections())
    const serve = (listener: http.RequestListener) =>
      server.removeAllListeners('request').on('request', listener)
    const all = (options?: { signal: AbortSignal }) => {
      const { port } = server.address() as AddressInfo
      return createUsersClient({ baseUrl: `http://127.0.0.1:${port}`, token: 'x' }).all(options)
    }

    test('rejects with the reason of its signal while it waits for a page', async () => {
      const stop = new AbortController()
      serve(() => stop.abort('enough'))
      await expect(all(stop).next()).rejects.toBe('enough')
    })

    test.each([
      ['itself', 'aa'],
      ['one before it', 'ba'],
    ])('throws PageFailed when a page links to %s, as the pages of a mock do', async (_, links) => {
      let pages = 0
      serve((_, response) => {
        response.setHeader('Link', `</users?after=${links[pages]}>; rel="next"`)
        response.end(`[{"id":"${(pages += 1)}"}]`)
      })
      const users = all()
      expect((await users.next()).value).toEqual({ id: '1' })
      await expect(users.next()).rejects.toThrow(PageFailed)
    })

    test('throws PageFailed when a page is not a list', async () => {
      serve((_, response) => response.end('{}'))
      await expect(all().next()).rejects.toMatchObject({ name: 'PageFailed', status: 200 })
    })

    test('throws PageFailed with a cause when a page breaks off, and when the service is down', async () => {
      serve((_, response) => response.write('[', () => response.destroy()))
      const broken = { name: 'PageFailed', status: undefined, cause: { message: 'terminated' } }
      await expect(all().next()).rejects.toMatchObject(broken)
      const users = all()
      await once(server.close(), 'close')
      const down = { name: 'PageFailed', status: undefined, cause: { message: 'fetch failed' } }
      await expect(users.next()).rejects.toMatchObject(down)
    })
  })

  test.each([
    ['</users?limit=1000&after=a>; rel="next"', 'a'],
    ['</api/users?after=a&limit=1000>;rel=next', 'a'],
    ['<https://example.com/users?after=a>; title="x"; rel="next"', 'a'],
    ['</>; rel="up", </users?after=a>; rel="next"', 'a'],
    ['</users?after=a>; rel="prev"', undefined],
    ['</users>; rel="next"', undefined],
  ])('reads the header Link: %s', async (link, after) => {
    const asked: unknown[] = []
    const fetch = async (request: Request) => {
      asked.push(new URL(request.url).searchParams.get('after') ?? undefined)
      return Response.json([], { headers: asked.length === 1 ? { link } : {} })
    }
    for await (const user of users({ token: 'x', fetch }).all()) throw new Error(user.id)
    expect(asked).toEqual(after === undefined ? [undefined] : [undefined, after])
  })
})

describe('without an email', () => {
  test('it sends the token that it was given, and returns a 401', async () => {
    const { response, error } = await client({ token: REFUSED }).GET('/users')
    expect([response.status, error]).toEqual([401, { message: 'a valid bearer token is required' }])
    expect(sent).toEqual(['GET /users 401'])
  })

  test('it sends no token when it was given none', async () => {
    const users = client({
      fetch: (request) => {
        expect(request.headers.has('Authorization')).toBe(false)
        return noted(request)
      },
    })
    expect(await list(users)).toBe(401)
  })
})
