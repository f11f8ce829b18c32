// The service as it is, on a real socket of this machine.
import { afterAll, beforeAll } from '@jest/globals'
import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { createApp } from '../../src/app.ts'
import { createUsersClient, type UsersClient } from '../../src/client/client.ts'
import { createLogger } from '../../src/telemetry/log.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import type { Limits } from '../../src/http/limits.ts'
import { createServer } from '../../src/http/server.ts'
import { createRequestLog } from '../../src/telemetry/request-log.ts'
import { openStore } from '../../src/store/open.ts'
import type { UserStore } from '../../src/store/user-store.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { expectContract } from './contract.ts'
import { SECRET, type Place } from './stores.ts'

export const tokens = createTokens([SECRET], 86_400)
export const BODY_LIMIT = 1024 * 1024

export interface Request {
  /** The `Authorization` header; a valid token unless told otherwise. */
  authorization?: string | undefined
  headers?: http.OutgoingHttpHeaders
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is. */
  body?: string | Buffer
}

export interface Response {
  status: number
  headers: http.IncomingHttpHeaders
  text: string
  json: any // eslint-disable-line -- whatever the service says; expectContract looks at it
}

/** A running service and the lines that it logged. */
export interface Service {
  port: number
  lines: Record<string, unknown>[]
  /** The client, as the bearer of a valid token; its answers are held against the contract. */
  users: UsersClient
  /** Sends what the client cannot, such as `PATCH /users`, and holds the answer against the contract. */
  send(line: string, request?: Request): Promise<Response>
  /** Sends bytes over a socket of their own; all that comes back, until the service closes it. */
  exchange(bytes: string | Buffer): Promise<string>
  close(): Promise<void>
}

export async function startService(
  store: UserStore,
  docs = true,
  bounds: Partial<Limits> = {},
): Promise<Service> {
  const lines: Record<string, unknown>[] = []
  const log = await createLogger('debug', { write: (line) => void lines.push(JSON.parse(line)) })
  const app = createApp({ store, tokens, bodyLimit: BODY_LIMIT, docs })
  const requestLog = createRequestLog({ log, metrics: createMetrics() })
  app.on('error', requestLog.failure)
  const handle = app.callback()
  const { server, close } = createServer(
    (request, response) => void handle(request, response),
    requestLog,
    bounds,
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    lines,
    users: createUsersClient({
      baseUrl: `http://127.0.0.1:${port}`,
      token: TOKEN,
      fetch: checkedFetch,
    }),
    send: (line, request) => send(port, line, request),
    exchange: (bytes) => exchange(port, bytes),
    close: () => close(1_000),
  }
}

/** Starts one service for the tests of a suite. */
export function useService(store: () => UserStore, bounds?: Partial<Limits>): () => Service {
  let service: Service
  beforeAll(async () => {
    service = await startService(store(), true, bounds)
  })
  afterAll(() => service.close())
  return () => service
}

/** Starts `count` services on one place, each with a store of its own; `stores` and `services` fill up. */
export function useReplicas(kind: () => Place, count: (place: Place) => number) {
  const stores: UserStore[] = []
  const services: Service[] = []
  let place: Place
  beforeAll(async () => {
    place = kind()
    while (services.length < count(place)) {
      const store = await openStore(place)
      stores.push(store)
      services.push(await startService(store))
    }
  })
  afterAll(async () => {
    for (const service of services) await service.close()
    for (const store of stores) await store.close()
    await place.remove()
  })
  return { stores, services }
}

const TOKEN = tokens.issue('665f1c2e8b3f4a0012d4c001')

/** `fetch`, but the answer is held against the contract. */
export async function checkedFetch(request: globalThis.Request): Promise<globalThis.Response> {
  const response = await fetch(request)
  const { pathname } = new URL(request.url)
  const headers = Object.fromEntries(response.headers)
  const text = await response.clone().text()
  expectContract(request.method, pathname, { status: response.status, headers, text })
  return response
}

/** Sends a request such as `GET /users` and holds the answer against the contract. */
export async function send(port: number, line: string, request: Request = {}): Promise<Response> {
  const [method = '', path = ''] = line.split(' ')
  const { json, body = json === undefined ? undefined : JSON.stringify(json) } = request
  const authorization = 'authorization' in request ? request.authorization : `Bearer ${TOKEN}`
  const headers = {
    ...(authorization !== undefined && { authorization }),
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...request.headers,
  }
  const outgoing = http.request({ port, host: '127.0.0.1', method, path, headers, agent: false })
  outgoing.end(body)
  const [incoming] = (await once(outgoing, 'response')) as [http.IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const response = { status: incoming.statusCode!, headers: incoming.headers, text }
  return { ...response, json: expectContract(method, path, response) }
}

/** The answers in what came over a socket. */
export function parseAnswers(text: string) {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} [A-Z])/)
    .filter((part) => !part.startsWith('HTTP/1.1 100'))
    .map((part) => {
      const [head = '', body = ''] = part.split('\r\n\r\n')
      const [status = '', ...lines] = head.split('\r\n')
      const headers = Object.fromEntries(
        lines.map((line) => [
          line.split(': ')[0]!.toLowerCase(),
          line.slice(line.indexOf(': ') + 2),
        ]),
      ) as http.IncomingHttpHeaders
      return { status: Number(status.split(' ')[1]), headers, text: body }
    })
}

/** A bare connection, and all that has come over it so far. */
export function dial(port: number): { socket: net.Socket; text: () => string } {
  const socket = net.connect(port, '127.0.0.1')
  let text = ''
  socket.on('error', () => {}) // a reset after the answer
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  return { socket, text: () => text }
}

async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const { socket, text } = dial(port)
  socket.write(bytes)
  await once(socket, 'close')
  return text()
}
