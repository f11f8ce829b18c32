// How the client logs in, and how it reads all users. (Its operations are used by the other tests.)
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import {
  createUsersClient,
  PageFailed,
  type User,
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

const LOG_IN = 'POST /login 200'

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
    const calls = await Promise.all(Array.from({ length: 20 }, () => users.GET('/users')))
    expect(calls.map(({ response }) => response.status)).toEqual(Array(20).fill(200))
    expect(sent.filter((line) => line === LOG_IN)).toHaveLength(1)
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
    const calls = await Promise.all(Array.from({ length: 20 }, () => users.GET('/users')))
    expect(calls.map(({ response }) => response.status)).toEqual(Array(20).fill(200))
    expect((await late).response.status).toBe(404)
    expect(sent.filter((line) => line === LOG_IN)).toHaveLength(1)
  })

  test('a second 401 is returned, without another log-in', async () => {
    const users = client({
      email,
      fetch: (request) => {
        request.headers.delete('Authorization')
        return noted(request)
      },
    })
    expect((await users.GET('/users')).response.status).toBe(401)
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
    expect((await users.GET('/users')).response.status).toBe(200)
  })

  test('a log-in that is refused after a 401 is the response, and the next call tries again', async () => {
    const users = client({ email: 'late@example.com', token: REFUSED })
    const { error } = await users.GET('/users')
    expect(error).toEqual({ message: 'no user has this email' })
    await store().create(newUser({ email: 'late@example.com' }))
    expect((await users.GET('/users')).response.status).toBe(200)
  })

  test('a call rejects when the service cannot be reached, and the next call tries again', async () => {
    let down = true
    const users = client({
      email,
      fetch: (request) => (down ? Promise.reject(new TypeError('fetch failed')) : noted(request)),
    })
    await expect(users.GET('/users')).rejects.toThrow('fetch failed')
    down = false
    expect((await users.GET('/users')).response.status).toBe(200)
  })

  test('a call whose signal aborts does not wait for a log-in, which other calls still use', async () => {
    let answer = (): void => {}
    const hanging = new Promise<void>((resolve) => (answer = resolve))
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
    const patient = users.GET('/users')
    call.abort()
    await expect(aborted).rejects.toThrow('aborted')
    answer()
    expect((await patient).response.status).toBe(200)
    expect(sent).toEqual([LOG_IN, 'GET /users 200'])
  })

  test('a path that ends with /login is not a log-in', async () => {
    await client({ email }).GET('/users/{id}', { params: { path: { id: 'login' } } })
    expect(sent).toEqual([LOG_IN, 'GET /users/login 404'])
  })

  test('other options are passed to openapi-fetch and fetch', async () => {
    const given: unknown[] = []
    const users = client({
      email,
      headers: { 'X-Request-Id': 'mine' },
      requestInitExt: { dispatcher: 'mine' },
      fetch: (request: Request, ...more: unknown[]) => {
        given.push(request.headers.get('X-Request-Id'), ...more)
        return noted(request)
      },
    })
    await users.GET('/users')
    const once = ['mine', { dispatcher: 'mine' }]
    expect(given).toEqual([...once, ...once])
  })

  test('a call with its own Authorization header is sent unchanged', async () => {
    const headers = { Authorization: `Bearer ${REFUSED}` }
    expect((await client({ email }).GET('/users', { headers })).response.status).toBe(401)
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
  const made: User[] = []

  beforeAll(async () => {
    const names = Array.from({ length: 2_001 }, (_, i) => `${i}`)
    const one = (name: string) => own().create(newUser(name === '0' ? { name, email } : { name }))
    made.push(...(await Promise.all(names.map(one))))
  })

  test('yields users in order of creation, in pages of 1,000, and logs in for them', async () => {
    const all: User[] = []
    for await (const user of users().all()) all.push(user)
    expect(all).toEqual(made)
    expect(sent).toEqual([LOG_IN, 'GET /users 200', 'GET /users 200', 'GET /users 200'])
  })

  test('fetches a page only when it is needed', async () => {
    for await (const user of users().all()) if (user.id === made[999]!.id) break
    expect(sent).toEqual([LOG_IN, 'GET /users 200'])
  })

  test('yields nothing when there are no users', async () => {
    const [id, ...others] = made.map(({ id }) => id)
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
    expect((await users.GET('/users')).response.status).toBe(401)
  })
})
