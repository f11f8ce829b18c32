// An app on a real socket of this machine. Every response is checked against its contract.
import { afterAll, beforeAll } from '@jest/globals'
import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { createApp } from '../../../src/chassis/app.ts'
import { readPage } from '../../../src/chassis/docs/reference.ts'
import { createServer } from '../../../src/chassis/http/server.ts'
import type { loadContract, Parts } from '../../../src/chassis/index.ts'
import { pathRedactor } from '../../../src/chassis/telemetry/path-redactor.ts'
import { createLogger } from '../../../src/chassis/telemetry/log.ts'
import { createMetrics } from '../../../src/chassis/telemetry/metrics.ts'
import { createRequestLog } from '../../../src/chassis/telemetry/request-log.ts'
import type { Spans } from '../../../src/chassis/telemetry/spans.ts'
import type { Expect } from './contract.ts'

export const BODY_LIMIT = 100 * 1024

export interface Request {
  /** The `Authorization` header; a valid one by default. */
  authorization?: string | undefined
  headers?: http.OutgoingHttpHeaders
  /** Sent as JSON. */
  json?: unknown
  /** Sent unchanged. */
  body?: string | Buffer
}

export type Options = Parameters<typeof createServer>[1] & {
  docs?: boolean
  basePath?: string
  spans?: Spans
}

interface Client {
  expectContract: Expect
  /** The `Authorization` header of requests that have no other. */
  authorization?: string
  redactPath?: (path: string) => string
}

/** An app that runs, until `close`. */
export async function startApp<Operations, Caller>(
  contract: ReturnType<typeof loadContract<Operations>>,
  parts: Omit<Parts<Operations, Caller>, 'store'>,
  client: Client,
  { docs = false, basePath = '', spans, ...options }: Options = {},
) {
  /** What the service has logged. */
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  const log = createLogger('debug', undefined, { write })
  const metrics = createMetrics('x', 'test')
  const paths = contract.contents().operations.map(({ path }) => path)
  const redactPath = pathRedactor(paths, basePath, client.redactPath)
  const observer = createRequestLog({ log, metrics, redactPath })
  const app = createApp(contract, parts, docs ? readPage(() => {}) : undefined, basePath)
  const callback = app.on('error', observer.onFailure).callback()
  const handle = spans ? spans.ofRequests(callback) : callback
  const { server, close } = createServer(handle, { observer, bodyLimit: BODY_LIMIT, ...options })
  const port = await listen(server)
  return {
    port,
    lines,
    metrics,
    /** Sends a request such as `PATCH /notes`. */
    send: (line: string, request?: Request) => send(client, port, line, request),
    /** Sends bytes over a new connection, and resolves to everything received until the service closes it. */
    exchange: (bytes: string | Buffer) => exchange(port, bytes),
    close: (timeoutMs = 1_000) => close(timeoutMs),
  }
}

/** Starts a server. @returns its port, by default one that was free */
export async function listen(server: net.Server, port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

/** Starts one service for the tests of a suite, by `start`. */
export function useStarted<S extends { close: () => Promise<unknown> }>(
  start: () => Promise<S>,
): () => S {
  let service: S
  beforeAll(async () => {
    service = await start()
  })
  afterAll(() => service.close())
  return () => service
}

/** Sends a request such as `GET /notes`. */
export async function send(client: Client, port: number, line: string, request: Request = {}) {
  const [method = '', path = ''] = line.split(' ')
  const { json, body = JSON.stringify(json) } = request
  const { authorization } = 'authorization' in request ? request : client
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
  const checked: any = client.expectContract(method, path, response) // eslint-disable-line -- as the contract says
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

/** A connection, and the text received over it so far. */
export function dial(port: number): { socket: net.Socket; text: () => string } {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {}) // a reset after the response
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  return { socket, text: () => text }
}

export async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const { socket, text } = dial(port)
  socket.write(bytes)
  await new Promise((resolve) => socket.once('close', resolve))
  return text()
}
