// The client, for Node and for browsers; a package of its own: users-service-client. All types come from the
// contract. Imports no code of the service.
import createClient, { type Client, type ClientOptions } from 'openapi-fetch'
import type { components, paths } from '../contract/openapi.js' // TypeScript 4 finds no types in a `.ts`

export type User = components['schemas']['User']

export interface UsersClient extends Client<paths, 'application/json'> {
  /**
   * All users in order of creation, fetched page by page while you read them: `for await (const user of
   * client.all())`. @throws PageFailed, or the reason of `signal` when it aborts
   */
  all(options?: Pick<RequestInit, 'signal'>): AsyncGenerator<User, void, undefined>
}

/** The service did not return a page of users. */
export class PageFailed extends Error {
  override readonly name = 'PageFailed'
  /** The status of the response; undefined if there is none that can be read. Then `cause` says why. */
  readonly status: number | undefined

  /** @param error has no message if something other than the service sent the response */
  constructor(response?: Response, error?: Partial<Error>, options?: ErrorOptions) {
    super(error?.message ?? response?.statusText, options)
    this.status = response?.status
  }
}

export interface UsersClientOptions extends ClientOptions {
  /** Where the service is, such as `http://localhost:3000`. In a browser: the origin of the page, or a proxy with CORS. */
  baseUrl: string
  /** The email to log in with, when there is no token yet and when one is refused. */
  email?: string
  /** The first token, or the only one if there is no `email`. */
  token?: string
}

const LOGIN = '/login' satisfies keyof paths

/** The largest page that the service returns, in users. */
const PAGE_SIZE = 1_000

/** Ids sort in order of creation. */
const NO_PROGRESS = { message: 'the next page is not after this one' }

/**
 * A client with one method per HTTP method, typed by the contract:
 * `const { data, error } = await client.GET('/users/{id}', { params: { path: { id } } })`.
 * A call resolves to `error`, `{ message }`, when the service returns an error, and rejects when the
 * service cannot be reached.
 *
 * With an `email`, a call that gets 401 logs in again and is sent again, once. Calls that do this at the
 * same time share one log-in, which the `signal` of a call does not abort. If the log-in fails, its
 * response becomes the response of the call. A call with its own `Authorization` header or its own
 * `fetch` is sent unchanged.
 *
 * @see https://openapi-ts.dev/openapi-fetch/ for all other options
 */
export function createUsersClient(options: UsersClientOptions): UsersClient {
  const { email, token: firstToken, fetch: customFetch = globalThis.fetch, ...others } = options
  const fetch = (request: Request) =>
    (customFetch as typeof globalThis.fetch)(request, others.requestInitExt)
  let token = firstToken
  let loggingIn: Promise<Response | undefined> | undefined

  /** @returns the response, if the log-in failed */
  async function logIn(): Promise<Response | undefined> {
    const { data, error, response } = await client.POST(LOGIN, { body: { email: email! } })
    token = data?.token
    return data ? undefined : new Response(JSON.stringify(error), response)
  }

  /** Logs in, unless there is a token other than `rejected`. @returns the response, if the log-in failed */
  function renewToken(rejected?: string): Promise<Response | undefined> | undefined {
    if (!loggingIn && token !== undefined && token !== rejected) return undefined
    return (loggingIn ??= logIn().finally(() => (loggingIn = undefined)))
  }

  /** @param rejected the token of the first attempt, when this is the second */
  async function send(request: Request, rejected?: string): Promise<Response> {
    const failed =
      email !== undefined && (await unlessAborted(renewToken(rejected), request.signal))
    if (failed) return failed.clone()
    const used = token
    const retry = email !== undefined && rejected === undefined ? request.clone() : undefined
    if (used !== undefined) request.headers.set('Authorization', `Bearer ${used}`)
    const response = await fetch(request)
    if (response.status !== 401 || !retry) return response
    await response.body?.cancel()
    return send(retry, used)
  }

  async function* all({ signal = others.signal }: Pick<RequestInit, 'signal'> = {}) {
    let after = ''
    do {
      const query = { limit: PAGE_SIZE, ...(after && { after }) }
      const call = client.GET('/users', { params: { query }, signal })
      const { data, error, response } = await call.catch((cause: Error) => {
        signal?.throwIfAborted()
        throw new PageFailed(undefined, cause, { cause })
      })
      if (!Array.isArray(data)) throw new PageFailed(response, error)
      const next = nextAfter(response)
      if (next && next <= after) throw new PageFailed(response, NO_PROGRESS)
      for (const user of data) {
        signal?.throwIfAborted()
        yield user
      }
      after = next
    } while (after)
  }

  const client = createClient<paths, 'application/json'>({
    ...others,
    fetch: (request) => {
      const isLogIn = request.method === 'POST' && new URL(request.url).pathname.endsWith(LOGIN)
      return isLogIn || request.headers.has('Authorization') ? fetch(request) : send(request)
    },
  })
  return Object.assign(client, { all })
}

/**
 * The `after` of the next page, from the `Link` of this page (RFC 8288 §3); empty if there is none. The rest of
 * the link is not used: a proxy may add a path prefix that the service does not know.
 */
function nextAfter({ headers }: Response): string {
  const [, query] = /<[^>?]*\?([^>]*)>[^,]*;\s*rel="?next\b/i.exec(headers.get('Link') ?? '') ?? []
  return new URLSearchParams(query).get('after') ?? ''
}

/** Waits for `promise`, but rejects when `signal` aborts first. */
async function unlessAborted<T>(promise: T | Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const settled = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { signal: settled.signal })
  })
  return Promise.race([promise, aborted]).finally(() => settled.abort())
}
