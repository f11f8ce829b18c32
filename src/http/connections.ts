// The connections of a server. Each serves its requests one at a time. When there are too many connections, the one
// that has waited longest for its client is closed.
import type { Socket } from 'node:net'
import { refuse, refuseInput, type Failure } from './failure.ts'
import type { Limits } from './limits.ts'
import type { Request } from './request.ts'

export type Connection = ReturnType<typeof createConnection>

/**
 * One connection: the request that is being served, and those that wait for it.
 *
 * @param start serves a request at the end of this turn of the event loop
 */
function createConnection(socket: Socket, maxWaiting: number, start: (request: Request) => void) {
  const queue: Request[] = []
  let newest: Request | undefined // while its body arrives, even if it has its response
  let isClosing = false
  let ignoredCount = 0
  let idleSince = performance.now()
  let end = () => socket.destroySoon() // closes the connection after its last response

  function next(): void {
    queue.shift()
    const [request] = queue
    if (request) {
      // Of a body that is too large, no more is read.
      if (queue.length === 1 && !request.isTooLarge) socket.resume()
      return start(request)
    }
    if (newest?.complete) newest = undefined // an idle connection holds no headers
    idleSince = performance.now()
    if (isClosing) end()
  }

  /** Closes the connection after the response to its newest request, if that response has not begun. */
  function closeAfterNewest(): void {
    const response = queue.at(-1)?.response
    if (!response || response.headersSent) return
    response.setHeader('Connection', 'close')
    isClosing = true
  }

  return {
    socket,
    closeAfterNewest,

    /**
     * Whether the client must act next: send a request, send the rest of one, or read a response. A client that sends
     * further requests before it has read a response also counts, so that it cannot keep its place for long.
     */
    waitsForClient: () => !queue[0]?.complete || queue[0].response.headersSent || queue.length > 1,

    /** When the client last did something, in milliseconds. */
    lastProgress: () => queue[0]?.lastProgress ?? idleSince,

    /** Serves a request when those before it have been served. */
    add(request: Request): void {
      if (isClosing) ignoredCount += 1
      if (queue.length + ignoredCount > maxWaiting) socket.destroy()
      if (isClosing || socket.destroyed) return
      newest = request
      request.response.on('close', next)
      if (queue.push(request) === 1) start(request)
      else socket.pause() // so that at most one packet waits
    },

    /** Closes the connection as soon as it is idle. Requests that are yet to come are ignored. */
    close(): void {
      closeAfterNewest()
      isClosing = true
      if (queue.length === 0) socket.destroySoon()
    },

    /**
     * Responds to input that is not valid HTTP, and closes the connection. The input belongs to the newest request if
     * that has not arrived completely.
     *
     * @returns false if the connection is already closing
     */
    reject(failure: Failure, id: string): boolean {
      const broken = newest?.complete === false ? newest : undefined
      if (isClosing && !broken) return false
      isClosing = true
      newest = undefined
      if (broken && !broken.response.headersSent) {
        broken.serve = () => refuse(broken.response, failure, id)
        if (queue[0] === broken) broken.serve()
        return true
      }
      if (!broken) end = () => refuseInput(socket, failure, id)
      if (queue.length === 0) end()
      return true
    },

    /** The client sends no more, so Node ends the connection. A part of a response must not look whole. */
    onEnd(): void {
      const response = queue[0]?.response
      if (response?.headersSent && !response.writableFinished) socket.resetAndDestroy()
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
  let roomTimer: NodeJS.Timeout | undefined
  const starting: Request[] = []
  let areDraining = false

  /**
   * Starts the requests of one turn of the event loop together, at its end. With 8 or more connections, a GET by id
   * takes a fifth less time, and a log-in a third less (`npm run bench`).
   */
  function start(request: Request): void {
    if (starting.push(request) === 1) setImmediate(startSome)
  }

  function startSome(): void {
    for (const request of starting.splice(0, maxStarts))
      if (request.socket.writable && !request.response.headersSent) request.serve()
    if (starting.length > 0) setImmediate(startSome)
  }

  /** Accepts the held connections, in their order, as far as there is room. */
  function admit(): void {
    for (const socket of held) {
      if (open.size >= maxConnections) return
      held.delete(socket)
      const connection = createConnection(socket, maxWaitingRequests, start)
      open.set(socket, connection)
      socket.once('end', () => connection.onEnd()) // before Node's own listener
      socket.once('close', () => {
        open.delete(socket)
        admit()
      })
      startReading(socket)
      socket.resume()
    }
  }

  /** Makes room for the held connections, until there are none. First, what clients have sent by now is read. */
  function makeRoom(): void {
    const time = performance.now() - evictableAfter
    setImmediate(() => {
      while (held.size > 0 && evictOldest(time)) admit()
      roomTimer = held.size > 0 ? setTimeout(makeRoom, evictableAfter) : undefined
    })
  }

  /** Closes the connection that has waited longest for its client, if that has made no progress since `time`. */
  function evictOldest(time: number): boolean {
    let oldest: Connection | undefined
    for (const connection of open.values()) {
      const since = oldest?.lastProgress() ?? time
      if (connection.lastProgress() < since && connection.waitsForClient()) oldest = connection
    }
    if (!oldest) return false
    open.delete(oldest.socket)
    oldest.evict()
    return true
  }

  return {
    find: (socket: Socket) => open.get(socket),
    areDraining: () => areDraining,

    add(socket: Socket): void {
      void socket.remoteAddress // Node keeps it; when the client has left, the kernel does not know it any more
      if (held.size >= maxHeldConnections) return void socket.destroy()
      held.add(socket) // it stays if its client leaves: only reading would show that
      admit()
      if (held.size > 0) roomTimer ??= setTimeout(makeRoom, 0)
    },

    /** Each connection closes after the response to its newest request. */
    drain(): void {
      areDraining = true
      open.forEach((connection) => connection.closeAfterNewest())
    },

    /** Closes idle connections now, and each other connection as soon as it is idle. */
    close(): void {
      held.forEach((socket) => void socket.destroy())
      held.clear()
      open.forEach((connection) => connection.close())
    },

    destroy: () => open.forEach((connection) => connection.evict()),
  }
}
