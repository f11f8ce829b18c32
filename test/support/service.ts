// The service on a real socket of this machine. Every response is checked against the contract.
import { afterAll, beforeAll } from '@jest/globals'
import { once } from 'node:events'
import http from 'node:http'
import type Koa from 'koa'
import net, { type AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { createApp } from '../../src/chassis/app.ts'
import { createUsersClient } from '../../src/client/client.ts'
import { createLogger } from '../../src/chassis/telemetry/log.ts'
import { createMetrics } from '../../src/chassis/telemetry/metrics.ts'
import { createServer } from '../../src/chassis/http/server.ts'
import { redactPath } from '../../src/redact-path.ts'
import { createRequestLog } from '../../src/chassis/telemetry/request-log.ts'
import { openStore } from '../../src/store/open.ts'
import type { UserStore } from '../../src/store/user-store.ts'
import { createTokens } from '../../src/chassis/tokens/tokens.ts'
import { expectContract } from './contract.ts'
import { SECRET, type Place } from './stores.ts'

export const tokens = createTokens([SECRET], 86_400)
export const BODY_LIMIT = 100 * 1024

export interface Request {
  /** The `Authorization` header; a valid token by default. */
  authorization?: string | undefined
  headers?: http.OutgoingHttpHeaders
  /** Sent as JSON. */
  json?: unknown
  /** Sent unchanged. */
  body?: string | Buffer
}

type ServerOptions = Parameters<typeof createServer>[1]

/** A service that runs, until `close`. */
export const startService = (
  store: UserStore,
  {
    docs = true,
    basePath,
    ...options
  }: ServerOptions & { docs?: boolean; basePath?: string | undefined } = {},
) => startApp(createApp(store, tokens, docs, basePath), options)

/** An app that runs, until `close`. */
export async function startApp(app: Koa, options: ServerOptions = {}) {
  /** What the service has logged. */
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  const log = createLogger('debug', undefined, { write })
  const metrics = createMetrics('x', 'test')
  const requestLog = createRequestLog({ log, metrics, redactPath })
  app.on('error', requestLog.onFailure)
  const handle = app.callback()
  const { server, close } = createServer(handle, {
    observer: requestLog,
    bodyLimit: BODY_LIMIT,
    ...options,
  })
  const port = await listen(server)
  const baseUrl = `http://127.0.0.1:${port}`
  return {
    port,
    lines,
    metrics,
    /** The client, with a valid token. */
    users: createUsersClient({ baseUrl, token: TOKEN, fetch: checkedFetch }),
    /** Sends what the client cannot, such as `PATCH /users`. */
    send: (line: string, request?: Request) => send(port, line, request),
    /** Sends bytes over a new connection, and resolves to everything received until the service closes it. */
    exchange: (bytes: string | Buffer) => exchange(port, bytes),
    close: (timeoutMs = 1_000) => close(timeoutMs),
  }
}

/** Starts a server. @returns its port, which was free */
export async function listen(server: net.Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

type Service = Awaited<ReturnType<typeof startService>>

/** Starts one service for the tests of a suite. */
export function useService(store: () => UserStore, basePath?: string): () => Service {
  return useStarted(() => startService(store(), { basePath }))
}

/** Starts one service for the tests of a suite, by `start`. */
export function useStarted(start: () => Promise<Service>): () => Service {
  let service: Service
  beforeAll(async () => {
    service = await start()
  })
  afterAll(() => service.close())
  return () => service
}

/** Starts two services that share their data. */
export function useTwoServices(kind: () => Place): Service[] {
  const services: Service[] = []
  const stores: UserStore[] = []
  let place: Place
  beforeAll(async () => {
    place = kind()
    stores.push(await openStore(place), await openStore(place))
    for (const store of stores) services.push(await startService(store))
  })
  afterAll(async () => {
    for (const service of services) await service.close()
    for (const store of stores) await store.close()
    await place.remove()
  })
  return services
}

const TOKEN = tokens.issue('665f1c2e8b3f4a0012d4c001')

/** `fetch` that checks the response against the contract. */
export async function checkedFetch(request: globalThis.Request): Promise<globalThis.Response> {
  const response = await fetch(request)
  const headers = Object.fromEntries(response.headers)
  const text = await response.clone().text()
  expectContract(request.method, request.url, { status: response.status, headers, text })
  return response
}

/** Sends a request such as `GET /users`. */
export async function send(port: number, line: string, request: Request = {}) {
  const [method = '', path = ''] = line.split(' ')
  const { json, body = JSON.stringify(json) } = request
  const authorization = 'authorization' in request ? request.authorization : `Bearer ${TOKEN}`
  const headers = {
    ...(authorization !== undefined && { authorization }),
    ...(json !== undefined && { 'content-type': 'application/json' }),
    ...request.headers,
  }
  const outgoing = http.request({ port, host: '127.0.0.1', method, path, headers, agent: false })
  outgoing.end(body)
  const [incoming] = (await once(outgoing, 'response')) as [http.IncomingMessage]
  const text = await textOf(incoming)
  const response = { status: incoming.statusCode!, headers: incoming.headers, text }
  const checked: any = expectContract(method, path, response) // eslint-disable-line -- as the contract says
  return { ...response, json: checked }
}

/** The responses in what was received over a connection. */
export const parseResponses = (text: string) =>
  text
    .split(/(?=HTTP\/1\.1 \d{3} [A-Z])/)
    .filter((part) => !part.startsWith('HTTP/1.1 100'))
    .map((part) => {
      const [head = '', body = ''] = part.split('\r\n\r\n')
      const fields = [...head.matchAll(/^(.*?): (.*)$/gm)]
      const headers: http.IncomingHttpHeaders = Object.fromEntries(
        fields.map(([, name, value]) => [name!.toLowerCase(), value]),
      )
      return { status: Number(head.split(' ')[1]), headers, text: body }
    })

/** The responses in `text`, each checked against its contract: a 201 is one of POST /notes, others are of `request`. */
export const responsesIn = (text: string, request = '') =>
  parseResponses(text).map((response) => {
    const [method = '', path = ''] = (response.status === 201 ? 'POST /notes' : request).split(' ')
    return { ...response, json: expectContract(method, path, response) as { message?: string } }
  })
export const statusesIn = (text: string, request?: string) =>
  responsesIn(text, request).map(({ status }) => status)

/** A connection, and the text received over it so far. */
export function dial(port: number): { socket: net.Socket; text: () => string } {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {}) // a reset after the response
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  return { socket, text: () => text }
}

async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const { socket, text } = dial(port)
  socket.write(bytes)
  await new Promise((resolve) => socket.once('close', resolve))
  return text()
}
