// Node's HTTP server with the limits of limits.ts: it serves the requests of a connection one at a time,
// and refuses what is not a request. Knows nothing of users.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import http, { ServerResponse, type IncomingHttpHeaders, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { Budget } from './budget.ts'
import { Connections, type Connection } from './connections.ts'
import { drop } from './drop.ts'
import { parserFailure, refuse, type Failure } from './failure.ts'
import type { HostCheck } from './hosts.ts'
import { LIMITS, type Limits } from './limits.ts'
import { farewell, refusalOf } from './refusal.ts'
import { Request } from './request.ts'
import { requestOfUnknownMethod } from './unknown-method.ts'

/** Called for the log and the metrics. */
export interface Observer {
  /** A request is about to be served. */
  begun: (request: Request, response: ServerResponse) => void
  /** Its response has ended, or its connection has closed. */
  ended: (request: Request, response: ServerResponse) => void
  /** Something that is not a request was refused. */
  noRequest: (failure: Failure, id: string, code: string) => void
}

interface Options {
  observer?: Observer
  /** Which hosts a request may name. */
  isHere?: HostCheck
  /** The budget that all requests share. */
  memory?: Budget
  /** Limits that differ from `LIMITS`. */
  limits?: Partial<Limits> | undefined
}

export interface HttpServer {
  /** It does not listen yet. */
  server: Server
  /** From now on every connection closes after its newest response. */
  drain: () => void
  /** Stops listening. Resolves when all requests have been served, or were cut off after `patience` ms. */
  close: (patience: number) => Promise<void>
}

export function createServer(
  handle: (request: Request, response: ServerResponse) => void,
  { observer, isHere = () => true, memory = new Budget(), limits: changes }: Options = {},
): HttpServer {
  const limits = { ...LIMITS, ...changes }
  const connections = new Connections(limits, (response, hasBegun) => {
    const request = response.req as Request
    // dropRest() ends the others
    if (request.complete || request.socket.destroyed) memory.end(request)
    if (hasBegun) observer?.ended(request, response)
  })

  function take(request: Request, response: ServerResponse, begin?: () => void): void {
    const connection = connections.of(request.socket)
    if (!connection?.admits()) return
    const { upgrade, expect } = request.headers
    const refusal = refusalOf(request, isHere)
    // Node drops what follows an offer to upgrade. What follows an expectation may be a body or a request.
    const isLast = Boolean(refusal ?? upgrade ?? expect ?? begin) || connections.areDraining
    const unread = unreadSize(request.headers)
    request.via = connection
    holdHeaders(request, connection, unread)
    // Comes before Node's own listener, which would drop the rest without limits.
    if (unread > 0) response.prependOnceListener('finish', () => void dropRest(request))
    connection.take(response, isLast, (failure = refusal) => {
      begin?.()
      observer?.begun(request, response)
      if (failure) refuse(response, failure)
      else handle(request, response)
    })
  }

  /**
   * Counts the headers of a request, which can take twenty times the bytes that were sent, the part of its body that
   * Node reads before anybody asks for it, and each request that waits for another one.
   */
  function holdHeaders(request: Request, connection: Connection, unread: number): void {
    const waiting = connection.isIdle ? 0 : WAITING_SIZE
    const sum = (bytes: number, { length }: string) => bytes + length + HEADER_SIZE
    request.least = request.rawHeaders.reduce(sum, waiting)
    memory.hold(request, unread)
  }

  /** Drops the rest of a body after the response, and closes the connection if it does not end. */
  async function dropRest(request: Request): Promise<void> {
    const isWhole = request.complete || (await drop(request))
    memory.end(request)
    if (!isWhole) request.socket.destroy()
  }

  /** Serves a request for which Node has made no response. */
  function takeAlone(request: Request): void {
    const { socket } = request
    const response = new ServerResponse(request)
    response.once('finish', () => socket.destroySoon())
    take(request, response, () => response.assignSocket(socket))
  }

  const server = http.createServer({
    IncomingMessage: Request,
    highWaterMark: 16 * 1024, // of Node 20; from 22 on, Node would read twice as much before anybody asks for it
    requireHostHeader: false, // refusal.ts checks it: Node's own response has no body
    headersTimeout: limits.headersTimeout,
    requestTimeout: limits.requestTimeout,
    keepAliveTimeout: limits.keepAliveTimeout,
    connectionsCheckingInterval: limits.connectionsCheckingInterval,
  })
  Object.assign(server, {
    timeout: limits.timeout,
    maxHeadersCount: LIMITS.maxHeaders + 1, // Node silently drops the rest: refusal.ts refuses the request
    httpAllowHalfOpen: true, // a client that has closed its half still gets the whole response
  })

  server
    .on('connection', (socket) => connections.add(socket))
    .on('timeout', (socket) => connections.of(socket)?.cut())
    .on('request', take)
    .on('checkContinue', take) // contract/body.ts sends 100 Continue
    .on('checkExpectation', take) // Node would answer 417 without a body
    .on('connect', (request: Request, socket: Socket) => {
      socket.on('error', () => {}) // Node no longer listens
      if (connections.of(socket)?.isIdle) takeAlone(request)
      else socket.destroy() // Node no longer writes the response before this one
    })
    .on('clientError', (error: ParserError, socket: Socket) => {
      const connection = connections.of(socket)
      if (!connection || !isParserError(error)) return void socket.destroy()
      if (!connection.canRefuse) return
      const packet = connection.isBetweenRequests ? error.rawPacket : undefined
      const request = packet && requestOfUnknownMethod(packet, socket)
      if (request) return takeAlone(request)
      const [failure, id] = [parserFailure(error), randomUUID()]
      observer?.noRequest(failure, id, error.code ?? '')
      connection.refuse(failure, () => farewell(socket, failure, id))
    })

  const checking = setInterval(
    () => connections.cutSlow(),
    limits.connectionsCheckingInterval,
  ).unref()

  return {
    server,
    drain: () => connections.drain(),
    async close(patience) {
      const closed = once(server.close(), 'close')
      connections.close()
      const end = setTimeout(() => connections.destroy(), patience)
      await closed
      clearTimeout(end)
      clearInterval(checking)
    },
  }
}

/** What a name or a value in the headers takes besides its text, in bytes. */
const HEADER_SIZE = 150

/** How much of a body Node may hold before it is read, in bytes. */
function unreadSize(headers: IncomingHttpHeaders): number {
  const length = headers['transfer-encoding'] ? Infinity : Number(headers['content-length'] ?? 0)
  return Math.min(length, READ_SIZE)
}

/** What Node reads of a connection at once, in bytes. */
const READ_SIZE = 64 * 1024

/** What a request that waits for another one takes besides its headers, in bytes. */
const WAITING_SIZE = LIMITS.smallPart

interface ParserError extends NodeJS.ErrnoException {
  rawPacket?: Buffer
}

/** Whether Node's parser gave up; otherwise the connection broke. */
const isParserError = ({ code = '' }: ParserError) => /^(HPE|ERR_HTTP)_/.test(code)
