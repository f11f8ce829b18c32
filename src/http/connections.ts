// The connections of a server. When there are too many, the one that has waited longest for its client is closed.
import type { Socket } from 'node:net'
import { createConnection, type Connection } from './connection.ts'
import type { ServerLimits } from './limits.ts'
import type { IncomingRequest } from './request.ts'

/**
 * All connections of one server.
 *
 * @param startReading reads requests from a connection
 */
export function createConnections(limits: ServerLimits, startReading: (socket: Socket) => void) {
  const open = new Map<Socket, Connection>()
  /** New connections that are not read until there is room. */
  const held = new Set<Socket>()
  let roomTimer: NodeJS.Timeout | undefined
  const starting: IncomingRequest[] = []
  let areDraining = false

  /**
   * Starts the requests of one turn of the event loop together, at its end. With 8 or more connections, a GET by id
   * takes a fifth less time, and a log-in a third less (`npm run bench`).
   */
  function start(request: IncomingRequest): void {
    if (starting.push(request) === 1) setImmediate(startSome)
  }

  function startSome(): void {
    for (const request of starting.splice(0, limits.maxStartsPerTurn))
      if (request.socket.writable && !request.response.headersSent) request.serve()
    if (starting.length > 0) setImmediate(startSome)
  }

  /** Accepts the held connections, in their order, as far as there is room. */
  function acceptHeld(): void {
    for (const socket of held) {
      if (open.size >= limits.maxConnections) return
      held.delete(socket)
      const connection = createConnection(socket, limits.maxWaitingRequests, start)
      open.set(socket, connection)
      socket.once('end', () => connection.onEnd()) // before Node's own listener
      socket.once('close', () => {
        open.delete(socket)
        acceptHeld()
      })
      startReading(socket)
      socket.resume()
    }
  }

  /** Makes room for the held connections, until there are none. First, what clients have sent by now is read. */
  function makeRoom(): void {
    const time = performance.now() - limits.evictableAfter
    setImmediate(() => {
      while (held.size > 0 && evictOldest(time)) acceptHeld()
      roomTimer = held.size > 0 ? setTimeout(makeRoom, limits.evictableAfter) : undefined
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
      if (held.size >= limits.maxHeldConnections) return void socket.destroy()
      held.add(socket) // it stays if its client leaves: only reading would show that
      acceptHeld()
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

    evictAll: () => open.forEach((connection) => connection.evict()),
  }
}
