// The contract as a client, for Node and for browsers: users-service/client. No type here is written by
// hand, and nothing of the service is imported.
import createClient, { type Client, type ClientOptions } from 'openapi-fetch'
import type { components, paths } from './contract/openapi.ts'

export type UsersClient = Client<paths>
export type User = components['schemas']['User']

export interface UsersClientOptions extends ClientOptions {
  /** Where the service is, such as `http://localhost:3000`. */
  baseUrl: string
  /** Whom to log in as: when a token is first needed, and when one is refused. */
  email?: string
  /** A token to begin with, or to do with when there is no `email`. */
  token?: string
}

const LOGIN = '/login' satisfies keyof paths

/**
 * A client with a method for each of HTTP's, typed by the contract:
 * `const { data, error } = await client.GET('/users/{id}', { params: { path: { id } } })`.
 * A call resolves to `error`, `{ message }`, when the service refuses or fails, and rejects when the
 * service cannot be reached.
 *
 * With an `email` a call that gets 401 logs in again and is sent again, once; calls that do so at the
 * same time share the log-in. The answer to a log-in that is refused is the answer to the call. A call
 * that brings an `Authorization` header, or a `fetch` of its own, is left alone.
 *
 * @see https://openapi-ts.dev/openapi-fetch/ for everything else that it can be told
 */
export function createUsersClient(options: UsersClientOptions): UsersClient {
  const { email, token: firstToken, fetch: given = globalThis.fetch, ...others } = options
  const fetch = (request: Request) =>
    (given as typeof globalThis.fetch)(request, others.requestInitExt)
  let token = firstToken
  let loggingIn: Promise<Response | undefined> | undefined

  /** @returns the answer, if it is a refusal */
  async function logIn(): Promise<Response | undefined> {
    const { data, error, response } = await client.POST(LOGIN, { body: { email: email! } })
    token = data?.token
    return data ? undefined : new Response(JSON.stringify(error), response)
  }

  /** Sees to it that there is a token, and another one than `refused`. */
  function renew(refused?: string): Promise<Response | undefined> | undefined {
    if (!loggingIn && token !== undefined && token !== refused) return undefined
    return (loggingIn ??= logIn().finally(() => (loggingIn = undefined)))
  }

  async function send(request: Request, refused?: string): Promise<Response> {
    const refusal = email === undefined ? undefined : await renew(refused)
    if (refusal) return refusal.clone()
    const [sent, spare] = [token, request.clone()]
    if (sent !== undefined) request.headers.set('Authorization', `Bearer ${sent}`)
    const response = await fetch(request)
    if (response.status !== 401 || email === undefined || refused !== undefined) return response
    await response.body?.cancel()
    return send(spare, sent)
  }

  const client = createClient<paths>({
    ...others,
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      const asItIs = pathname.endsWith(LOGIN) || request.headers.has('Authorization')
      return asItIs ? fetch(request) : send(request)
    },
  })
  return client
}
