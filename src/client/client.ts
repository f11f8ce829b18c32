// The client, for Node and for browsers; a package of its own: users-service-client. All types come from the
// contract. Imports no code of the service.
import createClient, { type Client, type ClientOptions } from 'openapi-fetch'
import type { components, paths } from '../contract/openapi.ts'

export type User = components['schemas']['User']

export interface UsersClient extends Client<paths, 'application/json'> {
  /**
   * All users in order of creation, fetched page by page while you read them: `for await (const user of
   * client.all())`. @throws PageFailed
   */
  all(): AsyncGenerator<User, void, undefined>
}

/** The service did not return a page of users. */
export class PageFailed extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'PageFailed'
    this.status = status
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

/** The largest page that the service returns. */
const PAGE = 1_000

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
  const { email, token: firstToken, fetch: given = globalThis.fetch, ...others } = options
  const fetch = (request: Request) =>
    (given as typeof globalThis.fetch)(request, others.requestInitExt)
  let token = firstToken
  let loggingIn: Promise<Response | undefined> | undefined

  /** @returns the response, if the log-in failed */
  async function logIn(): Promise<Response | undefined> {
    const { data, error, response } = await client.POST(LOGIN, { body: { email: email! } })
    token = data?.token
    return data ? undefined : new Response(JSON.stringify(error), response)
  }

  /** Makes sure that there is a token other than `refused`. @returns the response, if the log-in failed */
  function renew(refused?: string): Promise<Response | undefined> | undefined {
    if (!loggingIn && token !== undefined && token !== refused) return undefined
    return (loggingIn ??= logIn().finally(() => (loggingIn = undefined)))
  }

  async function send(request: Request, refused?: string): Promise<Response> {
    const refusal = email !== undefined && (await unlessAborted(renew(refused), request.signal))
    if (refusal) return refusal.clone()
    const sent = token
    const again = email !== undefined && refused === undefined ? request.clone() : undefined
    if (sent !== undefined) request.headers.set('Authorization', `Bearer ${sent}`)
    const response = await fetch(request)
    if (response.status !== 401 || !again) return response
    await response.body?.cancel()
    return send(again, sent)
  }

  async function* all(): AsyncGenerator<User, void, undefined> {
    for (let after: string | undefined; ;) {
      const query = { limit: PAGE, ...(after !== undefined && { after }) }
      const { data, error, response } = await client.GET('/users', { params: { query } })
      if (!data) throw new PageFailed(response.status, messageIn(error) ?? response.statusText)
      yield* data
      after = nextAfter(response)
      if (after === undefined) return
    }
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

/** The message of the service; undefined if something else sent the response. */
const messageIn = (error: unknown): string | undefined =>
  (error as Partial<Error> | undefined)?.message

/**
 * The `after` of the next page, from the `Link` of this page (RFC 8288 §3). The rest of the link is not
 * used: a proxy may add a path prefix that the service does not know.
 */
function nextAfter({ headers }: Response): string | undefined {
  const [, query] = /<[^>?]*\?([^>]*)>[^,]*;\s*rel="?next\b/i.exec(headers.get('Link') ?? '') ?? []
  return new URLSearchParams(query).get('after') ?? undefined
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
