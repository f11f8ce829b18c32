// Node's HTTP server with the limits of limits.ts, in front of Koa, which has none: it serves the requests of a connection
// one at a time, and refuses what is not a request. Knows no operation.
import { AsyncResource } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createConnections, type ConnectionObserver } from './connections.ts'
import { MALFORMED, PARSER_ERRORS, refuse, type HttpError } from './http-error.ts'
import type { HostCheck } from './hosts.ts'
import { LIMITS, SERVER_LIMITS, type ServerLimits } from './limits.ts'
import { refusalOf } from './refusal.ts'
import { IncomingRequest } from './request.ts'
import { OutgoingResponse } from './response.ts'

/** Called for the log and the metrics. */
export interface Observer extends ConnectionObserver {
  /** A request is about to be served. Returns what to call when its response has ended, or its connection has closed. */
  onRequest: (request: IncomingRequest, response: OutgoingResponse) => () => void
  /** Input that is not valid HTTP was rejected. */
  onMalformed: (error: HttpError, id: string, code: string, socket: Socket) => void
}

interface Options {
  observer?: Observer
  /** Which hosts a request may name, by the address that the server listens on. */
  hostCheck?: (bound: string) => HostCheck
  /** The largest request body, in bytes. */
  bodyLimit?: number
  /** Those that differ from `SERVER_LIMITS`. */
  limits?: Partial<ServerLimits> | undefined
}

/** @param handle returns a promise that resolves when nothing works on the request any more: until then it has a place */
export function createServer(
  handle: (request: IncomingRequest, response: OutgoingResponse) => Promise<void> | void,
  { observer, hostCheck = () => () => true, bodyLimit = 0, ...options }: Options = {},
) {
  const limits = { ...SERVER_LIMITS, ...options.limits }
  let isAllowedHost: HostCheck = () => false // until it listens

  function receive(request: IncomingRequest, response: OutgoingResponse): void {
    request.bodyLimit = bodyLimit
    request.refusal = refusalOf(request, isAllowedHost)
    const connection = connections.find(request.socket)
    // In this context, whatever request it waits for or starts with. `AsyncResource.bind` would take 20 µs on Node 20.
    const context = new AsyncResource('HTTP_REQUEST')
    const serve = () => {
      const onEnd = observer?.onRequest(request, response)
      response.on('close', () => {
        request.responseClosed(response.writableFinished)
        if (onEnd) context.runInAsyncScope(onEnd)
      })
      if (request.log.aborted) return // it was cut off before it began
      return request.refusal ? refuse(response, request.refusal) : handle(request, response)
    }
    connection?.add({ request, response, serve: () => context.runInAsyncScope(serve) })
    // Node drops what follows an offer to upgrade. What follows an expectation may be a body or a request.
    const { upgrade, expect } = request.headers
    if (request.refusal || upgrade || expect || connections.areDraining())
      connection?.closeAfterNewest()
  }

  const server = http.createServer({
    ...limits,
    IncomingMessage: IncomingRequest,
    ServerResponse: OutgoingResponse,
    requireHostHeader: false, // refusal.ts checks it: Node's own response has no body
    joinDuplicateHeaders: true, // otherwise Node keeps one of them, and a proxy may have checked another one
  })
  server.timeout = limits.timeout
  server.maxHeadersCount = LIMITS.maxHeaders + 1 // Node silently drops the rest: refusal.ts refuses the request

  // No connection is read before it has a place: only then, Node's own listener gets it.
  Object.assign(server, { pauseOnConnect: true }) // an option of net.Server that http.createServer does not take
  const [listener] = server.listeners('connection')
  const connections = createConnections(
    limits,
    (socket) => listener!.call(server, socket),
    observer,
  )

  server
    .removeAllListeners('connection')
    .on('listening', () => {
      const { address } = server.address() as AddressInfo
      isAllowedHost = hostCheck(address)
    })
    .on('connection', (socket) => connections.add(socket))
    .on('timeout', (socket) => connections.find(socket)?.evict('timeout'))
    .on('request', receive)
    .on('checkContinue', receive) // contract/body.ts sends 100 Continue
    .on('checkExpectation', receive) // Node would answer 417 without a body
    .on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Socket) => {
      const connection = connections.find(socket)
      // Any other code means that the connection broke.
      if (!connection || !/^(HPE|ERR_HTTP)_/.test(code)) return void socket.destroy()
      const error = PARSER_ERRORS[code] ?? MALFORMED
      const id = randomUUID()
      if (connection.refuse(error, id, code)) observer?.onMalformed(error, id, code, socket)
    })

  return {
    /** It does not listen yet. */
    server: server as http.Server,
    /** From now on every connection closes after its newest response. */
    drain: () => connections.drain(),
    /**
     * Stops listening. Resolves when all requests have been served, or were cut off after `timeoutMs`.
     *
     * @returns whether any was cut off
     */
    close: async (timeoutMs: number): Promise<boolean> => {
      connections.close()
      const closed = once(server.close(), 'close').then(() => false)
      const isLate = await Promise.race([closed, sleep(timeoutMs, true, { ref: false })])
      if (isLate) connections.evictAll()
      await closed
      await connections.closed() // the server's event comes before those of its sockets, which write the last lines
      return isLate
    },
  }
}
