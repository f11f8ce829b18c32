// The client, for Node and for browsers; a package of its own: users-service-client. All types come from the
// contract. Imports no code of the service.
import createClient, {
  type Client,
  type ClientOptions,
  type ClientPathsWithMethod,
  type FetchResponse,
  type MaybeOptionalInit,
  type ParseAs,
} from 'openapi-fetch'
import type { components, operations, paths } from '../openapi.js' // TypeScript 4 finds no types in a `.ts`

export type User = components['schemas']['User']
/** Why a call failed: `message` for people, and `code` for programs, unless the error comes from a proxy. */
export type ErrorMessage = components['schemas']['ErrorMessage']

type Method = Lowercase<(typeof METHODS)[number]>
type PathOf<M extends Method> = ClientPathsWithMethod<Client<paths>, M>
type InitOf<Path extends keyof paths, M extends Method> = MaybeOptionalInit<paths[Path], M>
type Args<Init> = undefined extends Init ? [(Init & Others)?] : [Init & Others]
/**
 * Other options of a call, but none that belongs in `params`: it would not be sent, and a condition would be lost. `fetch`
 * has no `timeout`: `signal` takes `AbortSignal.timeout()`.
 */
type Others = Record<string, unknown> & {
  [Misplaced in Place | Parameter | 'timeout']?: never
} & { params?: { headers?: never } }
type Place = 'header' | 'path' | 'query'
type Parameter = KeyOf<operations[keyof operations]['parameters'][Place]>
type KeyOf<Values> = Values extends object ? keyof Values : never

/** What openapi-fetch returns, with `ErrorMessage`: its own types make an object of a `code` that editors complete. */
type Completion<Path extends keyof paths, M extends Method, Init> = Promise<
  | Exclude<FetchResponse<paths[Path][M] & object, Init, 'application/json'>, { error: object }>
  | { data?: never; error: ErrorMessage; response: Response }
>

type Calls = {
  [M in Method as Uppercase<M>]: <Path extends PathOf<M>, Init extends InitOf<Path, M>>(
    path: Path,
    ...init: Args<Init>
  ) => Completion<Path, M, Init>
} & {
  request: <M extends Method, Path extends PathOf<M>, Init extends InitOf<Path, M>>(
    method: M,
    path: Path,
    ...init: Args<Init>
  ) => Completion<Path, M, Init>
}

export interface UsersClient extends Calls, Omit<Client<paths, 'application/json'>, keyof Calls> {
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
  /** That of the `ErrorMessage`, if it has one. */
  readonly code: ErrorMessage['code']

  constructor(response: Response | undefined, error: ErrorMessage, options?: ErrorOptions) {
    super(error.message, options)
    this.status = response?.status
    this.code = response && error.code
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

/** The methods of openapi-fetch. */
const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'] as const

type Empty<Path extends keyof paths, Method extends keyof paths[Path]> = Method extends string
  ? paths[Path][Method] extends { responses: { 204: unknown } }
    ? `${Uppercase<Method>} ${Path}`
    : never
  : never

/** The operations with a 204 in the contract: each other 204 comes from something else. */
const MAY_BE_EMPTY: { [Path in keyof paths as Empty<Path, keyof paths[Path]>]: true } = {
  'PUT /users/{id}': true,
  'DELETE /users/{id}': true,
}

/** The users of a page come after the last one of the page before. */
const NO_PROGRESS = { message: 'the next page is not after this one' }

/** The error when a 2xx does not have what the contract says. */
const NOT_OURS = { message: 'the response does not come from the Users Service' }

/** The result of openapi-fetch. */
type Result = { data?: string; error?: ErrorMessage; response: Response }

/**
 * A client with one method per HTTP method, typed by the contract:
 * `const { data, error } = await client.GET('/users/{id}', { params: { path: { id } } })`.
 * A call resolves to `error`, an `ErrorMessage`, when the response is not a 2xx or not JSON, and rejects when there
 * is no response. Only a 204 that the contract has, and a 2xx to HEAD, have neither `data` nor `error`.
 *
 * With an `email`, a call that gets 401 logs in again and is retried once. Concurrent calls share one log-in, which
 * the `signal` of a call does not abort. If the log-in fails, its response becomes the response of the call. A call
 * with its own `Authorization` header or its own `fetch` is sent unchanged.
 *
 * @see https://openapi-ts.dev/openapi-fetch/ for all other options
 */
export function createUsersClient(options: UsersClientOptions): UsersClient {
  const { email, token: firstToken, ...others } = options
  /** Looked up at each call: tests and monitoring replace the global one. */
  const fetch: typeof globalThis.fetch = (input, init) =>
    ((others.fetch ?? globalThis.fetch) as typeof globalThis.fetch)(input, init)
  let token = firstToken
  let loggingIn: Promise<string> | undefined

  /** @throws its result, if it failed: this becomes the result of the call */
  async function logIn(): Promise<string> {
    const { data, error, response } = await client.POST(LOGIN, { body: { email: email! } })
    token = data?.token
    if (!token) throw Object.assign(new Error('no log-in'), { error: error ?? NOT_OURS, response })
    return token
  }

  /** The token, after a log-in if there is none. */
  async function tokenFor(signal: AbortSignal): Promise<string | undefined> {
    if (token !== undefined || email === undefined) return token
    signal.throwIfAborted()
    loggingIn ??= logIn().finally(() => (loggingIn = undefined))
    return Promise.race([loggingIn, abortOf(signal)])
  }

  /** @param ext `requestInitExt` of the options */
  async function send(request: Request, ext?: object): Promise<Response> {
    if (request.headers.has('Authorization')) return fetch(request, ext)
    const copy = request.clone() // for the retry: the first attempt consumes the body
    const used = await tokenFor(request.signal)
    if (used !== undefined) request.headers.set('Authorization', `Bearer ${used}`)
    const response = await fetch(request, ext)
    if (response.status !== 401 || email === undefined) return response
    await response.body?.cancel()
    if (token === used) token = undefined
    copy.headers.set('Authorization', `Bearer ${await tokenFor(request.signal)}`)
    // Node can lose the signal of the copy (nodejs/undici#4068).
    return fetch(copy, { ...ext, signal: request.signal })
  }

  /** Like that of openapi-fetch, but the result has `data` or `error`, whatever sent the response. */
  async function request(method: string, url: string, init?: { parseAs?: ParseAs }) {
    const isJson = (init?.parseAs ?? 'json') === 'json'
    const asText = isJson && { parseAs: 'text' }
    const options = { ...(url !== LOGIN && { fetch: send }), ...init, ...asText }
    const call = (openapi.request as (...args: unknown[]) => Promise<Result>)(method, url, options)
    const { data, error, response } = await call.catch((e) => (e?.response ? e : Promise.reject(e)))
    if (error || !response.ok) {
      const sent = typeof error?.message === 'string' && error.message
      const message = sent || response.statusText || `HTTP ${response.status}`
      const code = sent && typeof error?.code === 'string' ? { code: error.code } : {}
      return { error: { message, ...code }, response }
    }
    const isEmpty = response.status === 204 && `${method.toUpperCase()} ${url}` in MAY_BE_EMPTY
    if (isEmpty || /head/i.test(method) || !isJson) return { data, response }
    const json: unknown = await new Response(data).json().catch(() => undefined)
    return json ? { data: json, response } : { error: NOT_OURS, response }
  }

  const openapi = createClient<paths, 'application/json'>({ ...others, fetch })
  const methods = METHODS.map((method) => [method, request.bind(undefined, method)])
  const all: UsersClient['all'] = ({ signal = others.signal } = {}) => allUsers(client, signal)
  const client: UsersClient = { ...openapi, request, ...Object.fromEntries(methods), all }
  return client
}

/** Implements `UsersClient.all`. */
async function* allUsers(client: Pick<UsersClient, 'GET'>, signal: RequestInit['signal']) {
  let after = ''
  do {
    const query = { limit: 1_000, ...(after && { after }) } // the maximum
    const call = client.GET('/users', { params: { query }, signal })
    const { data, error, response } = await call.catch((cause: Error) => {
      signal?.throwIfAborted()
      throw new PageFailed(undefined, cause, { cause })
    })
    if (!Array.isArray(data)) throw new PageFailed(response, error ?? NOT_OURS)
    const next = nextAfter(response)
    if (next && next <= after) throw new PageFailed(response, NO_PROGRESS)
    for (const user of data) {
      signal?.throwIfAborted()
      yield user
    }
    after = next
  } while (after)
}

/**
 * The `after` of the next page, from the `Link` of this page (RFC 8288 §3); empty if there is none. The rest of
 * the link is not used: a proxy may add a path prefix that the service does not know.
 */
function nextAfter({ headers }: Response): string {
  const [, query] = /<[^>?]*\?([^>]*)>[^,]*;\s*rel="?next\b/i.exec(headers.get('Link') ?? '') ?? []
  return new URLSearchParams(query).get('after') ?? ''
}

/** Rejects when `signal` aborts. */
const abortOf = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
