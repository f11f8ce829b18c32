// The connections of a server. Each serves its requests one at a time. When there are too many connections, the one
// that has waited longest for its client is closed.
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { refuse, refuseInput, type Failure } from './failure.ts'
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
  let newest: Exchange | undefined // while its body arrives, even if it has its response
  let isClosing = false
  let ignoredCount = 0
  let idleSince = performance.now()
  let isRejected = false
  let end: (() => void) | undefined // after the last response

  function startSoon(exchange: Exchange): void {
    exchange.response.on('close', next)
    defer(() => {
      if (socket.writable && !exchange.response.headersSent) exchange.serve()
    })
  }

  function next(): void {
    queue.shift()
    const [exchange] = queue
    if (exchange) {
      // Of a body that is too large, no more is read.
      if (queue.length === 1 && !exchange.request.isTooLarge) socket.resume()
      return startSoon(exchange)
    }
    if (newest?.request.complete) newest = undefined // an idle connection holds no headers
    idleSince = performance.now()
    end?.()
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
      const broken = newest?.request.complete === false ? newest : undefined
      if (isRejected || (isClosing && !broken)) return false
      isRejected = isClosing = true
      if (broken && queue.includes(broken) && !broken.response.headersSent) {
        broken.serve = () => refuse(broken.response, failure, id)
        if (queue[0] === broken) broken.serve()
        return true
      }
      end = () => (broken ? socket.destroy() : refuseInput(socket, failure, id))
      if (queue.length === 0) end()
      return true
    },

    /** Closes the connection. If a response has begun, resets it: otherwise a part of a list could look whole. */
    evict(): void {
      if (queue[0]?.response.headersSent || socket.writableLength > 0) socket.resetAndDestroy()
      else socket.destroy()
    },
  }
}

/**
 * All connections of one server.
 *
 * @param startReading reads requests from a connection
 */
export function createConnections(
  { maxConnections, maxHeldConnections, maxWaitingRequests, maxStarts, evictableAfter }: Limits,
  startReading: (socket: Socket) => void,
) {
  const open = new Map<Socket, Connection>()
  /** New connections that are not read until there is room. */
  const held = new Set<Socket>()
  let isMakingRoom = false
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
    socket.once('close', () => {
      open.delete(socket)
      admit()
    })
    startReading(socket)
    socket.resume()
  }

  /** Accepts the held connections, in their order, as far as there is room. */
  function admit(): void {
    for (const socket of held) {
      if (open.size >= maxConnections) return
      held.delete(socket)
      accept(socket)
    }
  }

  /** Makes room for the held connections, until there are none. First, what the other clients have sent is read. */
  function makeRoom(): void {
    while (held.size > 0 && evictOldest()) admit()
    isMakingRoom = held.size > 0
    if (isMakingRoom) setTimeout(() => setImmediate(makeRoom), evictableAfter)
  }

  /** Closes the connection that has waited longest for its client. False if all have made progress just now. */
  function evictOldest(): boolean {
    let oldest: Connection | undefined
    let time = performance.now() - evictableAfter
    for (const connection of open.values()) {
      if (connection.lastProgress() >= time || !connection.waitsForClient()) continue
      oldest = connection
      time = connection.lastProgress()
    }
    if (!oldest) return false
    open.delete(oldest.socket)
    oldest.evict()
    return true
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
      if (open.size < maxConnections && held.size === 0) return accept(socket)
      if (held.size >= maxHeldConnections) return void socket.destroy()
      held.add(socket) // it stays if its client leaves: only reading would show that
      if (!isMakingRoom) setImmediate(makeRoom)
      isMakingRoom = true
    },

    /** Closes idle connections now, and each other connection as soon as it is idle. */
    close(): void {
      drain()
      state = 'closing'
      for (const socket of held) socket.destroy()
      held.clear()
      for (const { isIdle, socket } of open.values()) if (isIdle()) socket.destroySoon()
    },

    destroy: () => open.forEach((connection) => connection.evict()),
  }
}
