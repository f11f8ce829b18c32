// The connections of a server. Each serves its requests one at a time. When there are too many connections, the one
// that has waited longest for its client is closed.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { refuse, writeFinalResponse, type Failure } from './failure.ts'
import type { Limits } from './limits.ts'
import type { Request } from './request.ts'

/** A request, its response, and what serves it. */
interface Exchange {
  request: Request
  response: ServerResponse
  serve: () => void
}

/** Calls a function at the end of this turn of the event loop. */
type Defer = (start: () => void) => void

export type Connection = ReturnType<typeof createConnection>

/** One connection: the request that is being served, and those that wait for it. */
function createConnection(socket: Socket, maxWaiting: number, defer: Defer, onIdle: () => void) {
  const queue: Exchange[] = []
  let newest: Exchange | undefined
  let isClosing = false
  let ignoredCount = 0
  let idleSince = performance.now()
  let sendFinalResponse: (() => void) | undefined // the response to input that is not a request

  function startSoon(exchange: Exchange): void {
    exchange.response.on('close', next)
    defer(() => {
      if (socket.writable && !exchange.response.headersSent) exchange.serve()
    })
  }

  function next(): void {
    queue.shift()
    if (queue.length === 1 && !queue[0]!.request.isTooLarge) socket.resume()
    if (queue[0]) return startSoon(queue[0])
    if (newest?.request.complete) newest = undefined // an idle connection holds no headers
    idleSince = performance.now()
    sendFinalResponse?.()
    onIdle()
  }

  return {
    socket,
    isIdle: () => queue.length === 0,

    /**
     * Whether the client must act next: send a request, send the rest of one, or read a response. A client that sends
     * further requests before it has read a response also counts, so that it cannot keep its place for long.
     */
    waitsForClient: () =>
      !queue[0]?.request.complete || queue[0].response.headersSent || queue.length > 1,

    /** When the client last did something, in milliseconds. */
    lastProgress: () => queue[0]?.request.lastProgress ?? idleSince,

    /** Serves a request when those before it have been served. */
    add(exchange: Exchange): void {
      if (isClosing) ignoredCount += 1
      if (queue.length + ignoredCount > maxWaiting) socket.destroy()
      if (isClosing || socket.destroyed) return
      newest = exchange
      if (queue.push(exchange) === 1) startSoon(exchange)
      else socket.pause() // so that at most one packet waits
    },

    /** Closes the connection after the response to its newest request, if that response has not begun. */
    closeAfterNewest(): void {
      const response = queue.at(-1)?.response
      if (!response || response.headersSent) return
      response.setHeader('Connection', 'close')
      isClosing = true
    },

    /**
     * Responds to input that is not valid HTTP, and closes the connection. The input belongs to the newest request if
     * that has not arrived completely.
     *
     * @returns whether this was the first such input
     */
    reject(failure: Failure, id: string): boolean {
      let incomplete = newest?.request.complete === false ? newest : undefined
      if (sendFinalResponse || (isClosing && !incomplete)) return false
      isClosing = true
      if (incomplete && queue.indexOf(incomplete) > 0) incomplete = void queue.pop()
      sendFinalResponse = () =>
        incomplete ? socket.destroy() : writeFinalResponse(socket, failure, id)
      if (queue.length === 0) sendFinalResponse()
      else if (incomplete && !incomplete.response.headersSent)
        refuse(incomplete.response, failure, id)
      return true
    },

    /** Closes the connection. If a response has begun, resets it: otherwise a part of a list could look whole. */
    evict(): void {
      if (queue[0]?.response.headersSent || socket.writableLength > 0) socket.resetAndDestroy()
      else socket.destroy()
    },
  }
}

/** All connections of one server. */
export function createConnections({ maxConnections, maxWaitingRequests, maxStarts }: Limits) {
  const open = new Map<Socket, Connection>()
  /** New connections that are not read until there is room. */
  const held = new Set<Socket>()
  const starting: (() => void)[] = []
  let state: 'open' | 'draining' | 'closing' = 'open'

  /**
   * Starts the requests of one turn of the event loop together, at its end. With 8 or more connections, a GET by id
   * takes a fifth less time, and a log-in a third less (`npm run bench`).
   */
  const defer: Defer = (start) => {
    if (starting.push(start) === 1) setImmediate(startSome)
  }

  function startSome(): void {
    for (const start of starting.splice(0, maxStarts)) start()
    if (starting.length > 0) setImmediate(startSome)
  }

  function accept(socket: Socket): void {
    const connection = createConnection(socket, maxWaitingRequests, defer, () => {
      if (state === 'closing') socket.destroySoon()
    })
    open.set(socket, connection)
    socket.once('close', () => open.delete(socket))
  }

  /** Makes room for the held connections: closes those that have waited longest for their clients. */
  function makeRoom(): void {
    const start = performance.now()
    const evictOldest = () => {
      const oldest = [...open.values()]
        .filter(({ waitsForClient, lastProgress }) => waitsForClient() && lastProgress() < start)
        .toSorted((a, b) => a.lastProgress() - b.lastProgress())
        .slice(0, Math.min(held.size, 16)) // a few at a time: meanwhile, others may send a request
      for (const connection of oldest) {
        open.delete(connection.socket)
        connection.evict()
      }
      for (const socket of held) {
        if (open.size < maxConnections && held.delete(socket)) accept(socket.resume())
      }
      if (held.size > 0) makeRoom()
    }
    setTimeout(setImmediate, 10, evictOldest) // first reads what their clients have sent: they may not be waiting
  }

  /** Each connection closes after the response to its newest request. */
  function drain(): void {
    state = 'draining'
    open.forEach((connection) => connection.closeAfterNewest())
  }

  return {
    drain,
    find: (socket: Socket) => open.get(socket),
    areDraining: () => state !== 'open',

    add(socket: Socket): void {
      void socket.remoteAddress // Node keeps it; when the client has left, the kernel does not know it any more
      if (open.size < maxConnections) return accept(socket)
      const [oldest] = held
      if (held.size >= maxConnections && held.delete(oldest!)) oldest!.destroy()
      socket.once('close', () => held.delete(socket))
      process.nextTick(() => socket.pause()) // Node resumes it in the tick before
      if (held.add(socket).size === 1) makeRoom()
    },

    /** Closes idle connections now, and each other connection as soon as it is idle. */
    close(): void {
      drain()
      state = 'closing'
      for (const socket of held) socket.destroy()
      for (const { isIdle, socket } of open.values()) if (isIdle()) socket.destroySoon()
    },

    destroy: () => open.forEach((connection) => connection.evict()),
  }
}
