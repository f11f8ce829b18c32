// Node's HTTP server around the app: time-outs, and the requests that never get to the app. Does not
// know what the app does.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import http, { STATUS_CODES, ServerResponse, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type Koa from 'koa'
import { JSON_TYPE, malformedRequest, parserFailure, type Failure } from './errors.ts'
import { observe, type Observers } from './observe.ts'
import { requestOfUnknownMethod } from './unknown-method.ts'

const OPTIONS = {
  headersTimeout: 10_000, // for the headers, in milliseconds
  requestTimeout: 30_000, // for headers and body
  connectionsCheckingInterval: 1_000, // how promptly the two are noticed
  keepAliveTimeout: 65_000, // longer than a load balancer keeps an idle connection, usually 60 s
  requireHostHeader: false, // checked below, for Node's own answer has no body
}

/** An HTTP server for `app`. It does not listen yet. */
export function createServer(app: Koa, observers: Observers): Server {
  const { log } = observers
  app.on('error', (failure: Failure, ctx?: Koa.Context) => {
    const { id, trace } = ctx?.req ?? {}
    log.error({ id, trace_id: trace, err: failure.cause }, failure.message)
  })
  const handle = app.callback()
  const refused = new WeakSet<Socket>()

  const serve = (request: IncomingMessage, response: ServerResponse) => {
    mind(response, server, request.socket)
    observe(request, response, observers)
    // Node drops what comes behind an offer to upgrade, so nothing may.
    if (request.headers.upgrade) response.shouldKeepAlive = false
    if (!hasValidHost(request)) refuse(response, malformedRequest())
    else void handle(request, response)
  }
  const server: Server = http.createServer(OPTIONS, serve)
  unfinished.set(server, new Set())
  return server
    .on('checkExpectation', serve) // else Node answers 417 by itself
    .on('connect', (request: IncomingMessage, socket: Socket) => {
      // Node has let go of the socket: nobody else minds its errors, nor would what is before it drain.
      socket.on('error', () => {})
      if (isThrough(socket.newest)) serve(request, responseOver(socket, request))
      else socket.destroy()
    })
    .on('clientError', (error: ParserError, socket: Socket) => {
      if (!isParserError(error)) return void socket.destroy()
      if (refused.has(socket) || !socket.writable) return // it is what still comes behind
      refused.add(socket)
      const request = error.rawPacket && requestOfUnknownMethod(error.rawPacket, socket)
      const before = socket.newest
      if (request && isThrough(before)) return serve(request, responseOver(socket, request))
      const failure = parserFailure(error)
      const id = randomUUID()
      log.info({ id, status: failure.status, code: error.code }, 'no request')
      refuseConnection(socket, failure, id, before)
    })
}

interface ParserError extends NodeJS.ErrnoException {
  rawPacket?: Buffer
}

/** Else the connection broke, or was broken off. */
const isParserError = ({ code = '' }: ParserError) => /^(HPE|ERR_HTTP)_/.test(code)

declare module 'node:net' {
  interface Socket {
    /** The answer last begun on this connection. */
    newest?: ServerResponse
  }
}

declare module 'node:http' {
  interface ServerResponse {
    /** The answer that has to be through on its connection before this one. */
    behind?: ServerResponse | undefined
  }
}

/** The answers that each server has begun and is not through with. */
const unfinished = new WeakMap<Server, Set<ServerResponse>>()
const closing = new WeakSet<Server>()

function mind(response: ServerResponse, server: Server, socket: Socket): void {
  if (closing.has(server)) response.shouldKeepAlive = false
  const responses = unfinished.get(server)
  responses?.add(response)
  response.once('close', () => {
    responses?.delete(response)
    response.behind = undefined
  })
  const before = socket.newest
  socket.newest = response
  if (!before) socket.once('close', () => abandon(socket))
  else if (!before.closed) response.behind = before
}

/** Node tells an answer that waits behind another one nothing of the end of its connection. */
function abandon({ newest }: Socket): void {
  const waiting = []
  for (let one = newest; one && !one.closed; one = one.behind) waiting.push(one)
  for (const response of waiting.toReversed()) response.emit('close')
}

/** Has every answer from now on close its connection. */
export function closeConnections(server: Server): void {
  closing.add(server)
  for (const response of unfinished.get(server) ?? []) {
    if (!response.headersSent) response.shouldKeepAlive = false
  }
}

/** Stops listening, lets what is in flight finish for `patience` ms, then cuts what is left. */
export async function closeServer(server: Server, patience: number): Promise<void> {
  const closed = once(server.close(), 'close')
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const bound = setTimeout(() => server.closeAllConnections(), patience)
  await closed
  clearInterval(idle)
  clearTimeout(bound)
}

const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/ // the characters of uri-host and port, RFC 9110 §7.2

/** One host and a valid one, RFC 9112 §3.2; HTTP/1.0 may do without. */
function hasValidHost({ httpVersion, headers: { host }, rawHeaders }: IncomingMessage): boolean {
  if (host === undefined) return httpVersion === '1.0'
  return HOST.test(host) && rawHeaders.findIndex(isHost) === rawHeaders.findLastIndex(isHost)
}

/** Whether what stands in `rawHeaders`, names and values in turns, is the name Host. */
const isHost = (field: string, i: number): boolean =>
  i % 2 === 0 && field.length === 4 && field.toLowerCase() === 'host'

function refuse(response: ServerResponse, failure: Failure): void {
  response.writeHead(failure.status, headersOf(failure)).end(failure.body)
}

const headersOf = ({ headers, body }: Failure) => ({
  ...headers,
  'Content-Type': JSON_TYPE,
  'Content-Length': Buffer.byteLength(body),
  Connection: 'close',
})

function responseOver(socket: Socket, request: IncomingMessage): ServerResponse {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  return response.once('finish', () => socket.destroySoon())
}

/** Whether the connection is free again. An answer that is finished may still hold it for a moment. */
const isThrough = (response?: ServerResponse) => !response || response.closed

/**
 * Answers, over the bare socket, what Node's parser could make no request of.
 *
 * @param before the last answer begun on this connection
 */
function refuseConnection(
  socket: Socket,
  failure: Failure,
  id: string,
  before?: ServerResponse,
): void {
  const partial = before && !before.req.complete // it is the body of a request that went wrong
  if (partial && !before.headersSent) return refuse(before, failure)
  const end = () => (partial ? void socket.destroy() : farewell(socket, failure, id))
  if (before && !isThrough(before)) before.once('close', end)
  else end()
}

function farewell(socket: Socket, failure: Failure, id: string): void {
  if (!socket.writable) return
  const { status, body } = failure
  const fields = { ...headersOf(failure), 'X-Request-Id': id }
  const headers = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.join('')}\r\n${body}`)
  // Not at once: a reset would take the answer from a client that is still sending.
  setTimeout(() => socket.destroy(), 1_000).unref()
}
