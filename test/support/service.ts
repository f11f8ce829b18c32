// The service on a real socket of this machine. Every response is checked against the contract.
import { guard } from '../../src/auth/guard.ts'
import { createUsersClient } from '../../src/client/client.ts'
import { contract as loaded } from '../../src/contract.ts'
import { toHttpError } from '../../src/errors.ts'
import { login } from '../../src/login.ts'
import { redactPath } from '../../src/redact-path.ts'
import type { UserStore } from '../../src/store/user-store.ts'
import { users } from '../../src/users.ts'
import * as app from '../chassis/support/app.ts'
import { checked, readContract } from '../chassis/support/contract.ts'
import * as requests from '../chassis/support/requests.ts'
import { BEARER, tokens } from '../chassis/support/requests.ts'
import { useStore, type Place } from './stores.ts'

export const contract = readContract(new URL('../../openapi.yaml', import.meta.url))
export const { documented, statusOfCode, expectContract } = checked(contract)

const client = { expectContract, authorization: BEARER, redactPath }

/** A service that runs, until `close`. */
export async function startService(store: UserStore, options: app.Options = {}) {
  const handlers = { ...users(store, options.basePath ?? ''), ...login(store, tokens) }
  const parts = { guard: guard(tokens), handlers, toHttpError }
  const service = await app.startApp(loaded, parts, client, { docs: true, ...options })
  const baseUrl = `http://127.0.0.1:${service.port}`
  const token = BEARER.replace('Bearer ', '')
  /** The client, with a valid token. */
  return { ...service, users: createUsersClient({ baseUrl, token, fetch: checkedFetch }) }
}

type Service = Awaited<ReturnType<typeof startService>>

/** Starts one service for the tests of a suite. */
export const useService = (store: () => UserStore, basePath = ''): (() => Service) =>
  app.useStarted(() => startService(store(), { basePath }))

/** Starts two services that share their data. */
export function useTwoServices(kind: () => Place): (() => Service)[] {
  let place: Place | undefined
  const shared = () => (place ??= kind())
  return [useService(useStore(shared)), useService(useStore(shared))]
}

/** `fetch` that checks the response against the contract. */
export async function checkedFetch(request: globalThis.Request): Promise<globalThis.Response> {
  const response = await fetch(request)
  const headers = Object.fromEntries(response.headers)
  const text = await response.clone().text()
  expectContract(request.method, request.url, { status: response.status, headers, text })
  return response
}

/** Sends a request such as `GET /users`. */
export const send = (port: number, line: string, request?: app.Request) =>
  app.send(client, port, line, request)

/** The responses in `text`, each checked against the contract. */
export const responsesIn = (text: string) =>
  app.parseResponses(text).map((response) => {
    return { ...response, json: expectContract('', '', response) as { message?: string } }
  })

export const post = (body: string, headers = '') => requests.post(body, headers, '/users')
export const postHead = (headers: string) => requests.postHead(headers, '/users')
export const logIn = (body: string, headers = '') =>
  requests.post(body, headers, loaded.pathOf('login'))
