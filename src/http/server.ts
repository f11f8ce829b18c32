// Node's HTTP server around the app: time-outs, and the requests that never get to the app. Does not
// know what the app does.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import http, { STATUS_CODES, ServerResponse, type IncomingMessage, type Server } from 'node:http'
import type { Socket } from 'node:net'
import type Koa from 'koa'
import { JSON_TYPE, malformedRequest, parserFailure, type Failure } from './failure.ts'
import { observe, type Observers } from '../telemetry/request-log.ts'
import { isRepeated } from './headers.ts'
import { requestOfUnknownMethod } from './unknown-method.ts'

/** What a client may take of the service; times in milliseconds. */
export const BOUNDS = {
  headersTimeout: 10_000, // for the headers
  requestTimeout: 30_000, // for headers and body
  connectionsCheckingInterval: 1_000, // how promptly these two are noticed, and `answerTimeout`
  timeout: 60_000, // without a byte either way; no store takes as long, and `requestTimeout` comes first
  answerTimeout: 600_000, // for a whole answer: who reads a byte now and then is never without one
  keepAliveTimeout: 65_000, // longer than a load balancer keeps an idle connection, usually 60 s
  maxConnections: 3_000, // Linux gives a process 4,096 descriptors where nobody says otherwise
  maxHeadersCount: 0, // any: Node would drop what is beyond; their size has a bound, 16 KiB
  pipelined: 4, // requests of one connection at work at once: each may hold a page of the list
}

const OPTIONS = {
  requireHostHeader: false, // checked below, for Node's own answer has no body
}

/** An HTTP server for `app`. It does not listen yet. */
export function createServer(
  app: Koa,
  observers: Observers,
  given: Partial<typeof BOUNDS> = {},
): Server {
  const { log } = observers
  const bounds = { ...BOUNDS, ...given }
  app.on('error', (failure: Failure, ctx?: Koa.Context) => {
    const { id, trace } = ctx?.req ?? {}
    log.error({ id, trace_id: trace, err: failure.cause }, failure.message)
  })
  const handle = app.callback()
  const refused = new WeakSet<Socket>()

  const serve = (request: IncomingMessage, response: ServerResponse) => {
    if (request.socket.isEnding) return // nobody would get the answer (RFC 9112 §9.6)
    mind(response, server, request.socket)
    observe(request, response, observers)
    // Node drops what comes behind an offer to upgrade, so nothing may.
    if (request.headers.upgrade) endWith(response)
    if (!hasValidHost(request) || !hasKnownCoding(request)) refuse(response, malformedRequest())
    else inTurn(response, bounds.pipelined, () => void handle(request, response))
  }
  const server: Server = http.createServer({ ...OPTIONS, ...bounds }, serve)
  unfinished.set(server, new Map())
  keepBounds(server, bounds)
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
    /** Whether the newest is the last: nothing behind it is taken for a request. */
    isEnding?: boolean
  }
}

declare module 'node:http' {
  interface ServerResponse {
    /** The answer that has to be through on its connection before this one. */
    behind?: ServerResponse | undefined
    /** Begins another one, which waits for the end of this one. */
    begin?: () => void
  }
}

/** The answers that each server is not through with, oldest first, and when they were begun. */
const unfinished = new WeakMap<Server, Map<ServerResponse, number>>()
const closing = new WeakSet<Server>()

/** The connections of each server that have not asked for anything yet, oldest first. */
const mute = new WeakMap<Server, Set<Socket>>()

/** Has `response` be the last one on its connection. */
function endWith(response: ServerResponse): void {
  response.shouldKeepAlive = false
  response.req.socket.isEnding = true
}

function mind(response: ServerResponse, server: Server, socket: Socket): void {
  if (closing.has(server)) endWith(response)
  mute.get(server)?.delete(socket)
  const responses = unfinished.get(server)
  responses?.set(response, performance.now())
  response.once('close', () => {
    responses?.delete(response)
    response.behind = undefined
    response.begin?.()
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

/** Those that Node has as properties alone, and those that it has not. */
function keepBounds(server: Server, bounds: typeof BOUNDS): void {
  const { timeout, maxConnections, maxHeadersCount, connectionsCheckingInterval } = bounds
  // Half-open: else a client that has nothing more to say would not be answered to the end.
  Object.assign(server, { timeout, maxConnections, maxHeadersCount, httpAllowHalfOpen: true })
  const silent = new Set<Socket>()
  mute.set(server, silent)
  server.on('connection', (socket: Socket) => {
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
    server.getConnections((_, count) => {
      if (count < maxConnections) return
      // The next one would be refused: those that wait for nothing make room; if most are mute, the oldest.
      server.closeIdleConnections()
      if (silent.size > maxConnections / 2) silent.values().next().value?.destroy()
    })
  })
  server.on('timeout', cut)
  const check = () => cutLongAnswers(server, performance.now() - bounds.answerTimeout)
  const cutting = setInterval(check, connectionsCheckingInterval).unref()
  server.once('close', () => clearInterval(cutting))
}

/** Ends a connection, with a reset where there is an answer left: the kernel would keep it for long. */
function cut(socket: Socket): void {
  if (socket.writableLength > 0) socket.resetAndDestroy()
  else socket.destroy()
}

/** Cuts the connections of the answers that were begun at `time` or before. */
function cutLongAnswers(server: Server, time: number): void {
  for (const [{ req }, begun] of unfinished.get(server) ?? []) {
    if (begun > time) return
    cut(req.socket)
  }
}

/** Begins work at an answer once fewer than `count` others, not through, are before it on its connection. */
function inTurn(response: ServerResponse, count: number, work: () => void): void {
  let before: ServerResponse | undefined = response
  for (let i = 0; i < count && before; i += 1) before = before.behind
  if (!before) return work()
  before.begin = () => {
    if (!response.req.socket.destroyed && !response.headersSent) work()
  }
}

/** Has the last answer of each connection close it, and nothing more begun behind that. */
export function closeConnections(server: Server): void {
  closing.add(server)
  for (const response of unfinished.get(server)?.keys() ?? []) {
    if (!response.headersSent && response === response.req.socket.newest) endWith(response)
  }
}

/** Stops listening, lets what is in flight finish for `patience` ms, then cuts what is left. */
export async function closeServer(server: Server, patience: number): Promise<void> {
  const closed = once(server.close(), 'close')
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const bound = setTimeout(() => {
    server.closeAllConnections()
    for (const { req } of unfinished.get(server)?.keys() ?? []) req.socket.destroy() // of CONNECT, too
  }, patience)
  await closed
  clearInterval(idle)
  clearTimeout(bound)
}

const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/ // the characters of uri-host and port, RFC 9110 §7.2

/** One host and a valid one, RFC 9112 §3.2; HTTP/1.0 may do without. */
function hasValidHost({ httpVersion, headers: { host }, rawHeaders }: IncomingMessage): boolean {
  if (host === undefined) return httpVersion === '1.0'
  return HOST.test(host) && !isRepeated(rawHeaders, 'host')
}

/** Chunks are the one transfer coding that Node decodes; it would let others pass for content. */
function hasKnownCoding({ headers: { 'transfer-encoding': coding } }: IncomingMessage): boolean {
  return coding === undefined || coding.toLowerCase() === 'chunked'
}

function refuse(response: ServerResponse, failure: Failure): void {
  endWith(response)
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
