// The connections of a server, at most MAX_CONNECTIONS. A new one evicts the one that has been idle longest, or waits.
import type { Socket } from 'node:net'
import { createConnection, type Connection } from './connection.ts'
import type { ServerLimits } from './limits.ts'
import type { IncomingRequest } from './request.ts'

/** Called for the log and the metrics. */
export interface ConnectionObserver {
  /** How many connections there are now. */
  onConnections: (count: number) => void
  /** There were too many connections: one was evicted for a new one, or the one that had waited longest was refused. */
  onDropped: (how: 'evicted' | 'refused') => void
  /** What serves the request had not ended `abandonedAfter` its client had left. */
  onAbandoned: (request: IncomingRequest) => void
}

/**
 * All connections of one server. Each has its place until it is closed and its handler has ended, so a client
 * cannot free its place early by disconnecting. A handler that does not end gives its place back after `abandonedAfter`.
 *
 * @param startReading reads requests from a connection
 */
export function createConnections(
  limits: ServerLimits,
  startReading: (socket: Socket) => void,
  observer?: ConnectionObserver,
) {
  const connections = new Map<Socket, Connection>()
  /** Those with a place that are not closed. */
  const open = new Set<Socket>()
  /** New connections that are not read until there is room. */
  const waiting = new Set<Socket>()
  let evictTimer: NodeJS.Timeout | undefined
  const starting: (() => void)[] = []
  let areDraining = false

  /**
   * Starts the requests of one turn of the event loop together, at its end. With 8 or more connections, a GET by id
   * takes a fifth less time, and a log-in a third less (`npm run bench`).
   */
  function start(serve: () => void): void {
    if (starting.push(serve) === 1) setImmediate(startSome)
  }

  function startSome(): void {
    for (const serve of starting.splice(0, limits.maxStartsPerTurn)) serve()
    if (starting.length > 0) setImmediate(startSome)
  }

  /** Accepts the waiting connections, in their order, as far as there is room. */
  function acceptWaiting(): void {
    for (const socket of waiting) {
      if (connections.size >= limits.maxConnections) return
      waiting.delete(socket)
      const connection = createConnection(socket, limits, start)
      connections.set(socket, connection)
      open.add(socket)
      observer?.onConnections(connections.size)
      socket.once('end', () => connection.onEnd()) // before Node's own listener
      socket.once('close', () => void release(connection))
      startReading(socket)
      socket.resume()
    }
  }

  async function release({ socket, lastRequest, handlerEnd }: Connection): Promise<void> {
    open.delete(socket)
    const request = lastRequest()
    const timer = setTimeout(() => {
      if (request) observer?.onAbandoned(request)
      request?.emit('abandoned') // for contract/body.ts
      free(socket)
    }, limits.abandonedAfter).unref()
    await handlerEnd()
    clearTimeout(timer)
    free(socket)
  }

  function free(socket: Socket): void {
    if (!connections.delete(socket)) return // it was free
    observer?.onConnections(connections.size)
    acceptWaiting()
  }

  /**
   * Evicts one connection for each that waits, less those whose clients have left already. First reads what clients have
   * sent by now.
   */
  function makeRoom(): void {
    const time = performance.now()
    setImmediate(() => {
      // The more wait, the sooner: a flood makes honest clients wait, and not fail.
      const free = 1 - waiting.size / limits.maxWaitingConnections
      const after = Math.max(limits.evictableIdleAfter, limits.evictableAfter * free)
      const idle = [...connections.values()].filter((connection) =>
        connection.isEvictable(time, after),
      )
      idle.sort((a, b) => a.lastProgress() - b.lastProgress())
      const leaving = [...connections.keys()].filter((socket) => socket.destroyed).length
      for (const connection of idle.slice(0, Math.max(0, waiting.size - leaving))) {
        connection.evict('evicted')
        observer?.onDropped('evicted')
      }
      evictTimer = waiting.size > 0 ? setTimeout(makeRoom, EVICT_MS) : undefined
    })
  }

  return {
    find: (socket: Socket) => connections.get(socket),
    areDraining: () => areDraining,

    add(socket: Socket): void {
      void socket.remoteAddress // read now, and Node remembers it: when the client has left, the kernel has forgotten it
      waiting.add(socket) // it stays if its client leaves: only reading would show that
      if (waiting.size > limits.maxWaitingConnections) {
        const [longest] = waiting
        waiting.delete(longest!)
        longest!.destroy()
        observer?.onDropped('refused')
      }
      acceptWaiting()
      if (waiting.size > 0) evictTimer ??= setTimeout(makeRoom, 0)
    },

    /** Each connection closes after the response to its newest request. */
    drain(): void {
      areDraining = true
      connections.forEach((connection) => connection.closeAfterNewest())
    },

    /** Closes idle connections now, and each other connection as soon as it is idle. */
    close(): void {
      waiting.forEach((socket) => void socket.destroy())
      waiting.clear()
      connections.forEach((connection) => connection.close())
    },

    evictAll: () => connections.forEach((connection) => connection.evict('stopped')),

    /** Resolves when all connections are closed, whether or not their handlers have ended. */
    closed: () =>
      Promise.all(Array.from(open, (socket) => new Promise((done) => socket.once('close', done)))),
  }
}

/** How often to make room while connections wait for it, in milliseconds. */
const EVICT_MS = 10
