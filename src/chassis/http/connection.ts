// One connection: it serves its requests one at a time.
import type { Socket } from 'node:net'
import type { CutOff } from './client.ts'
import { refuse, refuseInput, type HttpError } from './http-error.ts'
import type { ServerLimits } from './limits.ts'
import type { IncomingRequest } from './request.ts'
import type { OutgoingResponse } from './response.ts'

/** A request and its response. */
export interface Exchange {
  readonly request: IncomingRequest
  readonly response: OutgoingResponse
  /** Serves the request. Resolves when nothing works on it any more. */
  serve: () => Promise<void> | void
}

export type Connection = ReturnType<typeof createConnection>

/**
 * One connection: the request that is being served, and those that wait for it.
 *
 * @param start calls a function at the end of this turn of the event loop
 */
export function createConnection(
  socket: Socket,
  limits: ServerLimits,
  start: (serve: () => void) => void,
) {
  const queue: Exchange[] = []
  let served: Exchange | undefined // the last one that was served
  let arriving: Exchange | undefined // the last request received, until its body is complete; its response may already be sent
  let isClosing = false
  let ignoredCount = 0
  let idleSince = performance.now()
  let isNew = true
  let handler: Promise<void> | void // of the last request that was served
  let end = () => socket.destroySoon() // closes the connection after its last response

  function next(): void {
    queue.shift()
    const [exchange] = queue
    if (exchange) {
      // Of a body that is too large, no more is read.
      if (queue.length === 1 && !exchange.request.isBodyDropped) socket.resume()
      return start(() => serveOpen(exchange))
    }
    if (arriving?.request.complete) arriving = served = undefined // an idle connection holds no headers
    idleSince = performance.now()
    isNew = false
    if (isClosing) end()
  }

  /** Serves a request, unless its client has left. */
  function serveOpen(exchange: Exchange): void {
    if (!socket.writable) return
    served = exchange
    handler = exchange.serve()
  }

  /** Closes the connection after the response to its newest request, if that response has not begun. */
  function closeAfterNewest(): void {
    const response = queue.at(-1)?.response
    if (!response || response.headersSent) return
    response.setHeader('Connection', 'close')
    isClosing = true
  }

  /** Closes the connection. If a response has begun, resets it: otherwise a part of a list could look whole. */
  function evict(reason: CutOff): void {
    const [exchange] = queue
    if (exchange) {
      exchange.request.log.aborted ??= reason
      if (served !== exchange) serveOpen(exchange) // only its line
    }
    if (exchange?.response.headersSent) socket.resetAndDestroy()
    else socket.destroy()
  }

  /** When the client last did something, in milliseconds. */
  const lastProgress = () => queue[0]?.request.lastProgress ?? idleSince

  /**
   * Whether the client must act next: send a request, send the rest of one, or read a response. A client that sends
   * further requests before it has read a response also counts, so that it cannot keep its place for long.
   */
  const waitsForClient = () =>
    !queue[0]?.request.complete || queue[0].response.headersSent || queue.length > 1

  function refuseBroken(broken: Exchange, error: HttpError, code: string): void {
    if (code === 'HPE_INVALID_EOF_STATE') return void socket.destroy() // its client has left
    broken.request.log.cause = code
    broken.request.refusal = error
    if (served === broken) refuse(broken.response, error)
  }

  return {
    socket,
    closeAfterNewest,
    evict,
    lastProgress,

    /**
     * Whether it is open, and its client must act and has done nothing for too long before `time`.
     *
     * @param evictableAfter how long that is for a busy or new connection, in milliseconds
     */
    isEvictable(time: number, evictableAfter: number): boolean {
      const isIdle = queue.length === 0 && !isNew
      const limit = isIdle ? limits.evictableIdleAfter : evictableAfter
      return !socket.destroyed && waitsForClient() && lastProgress() < time - limit
    },

    /** The last request that was served; undefined if the connection is idle. */
    lastRequest: () => served?.request,

    /** Resolves when the handler of the last request has ended. */
    handlerEnd: async () => handler,

    /** Serves a request when those before it have been served. */
    add(exchange: Exchange): void {
      if (isClosing) ignoredCount += 1
      if (queue.length + ignoredCount > limits.maxWaitingRequests) evict('pipelined')
      if (isClosing || socket.destroyed) return
      arriving = exchange
      exchange.response.on('close', next)
      if (queue.push(exchange) === 1) start(() => serveOpen(exchange))
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
     * that has not arrived completely: then its line in the log says so.
     *
     * @param code of the parser
     * @returns whether it belongs to no request, and the connection was not closing
     */
    refuse(error: HttpError, id: string, code: string): boolean {
      const broken = arriving?.request.complete === false ? arriving : undefined
      if (isClosing && !broken) return false
      isClosing = true
      arriving = undefined
      if (!broken) end = () => refuseInput(socket, error, id)
      if (broken && !broken.response.headersSent) refuseBroken(broken, error, code)
      else if (queue.length === 0) end()
      return !broken
    },

    /** The client sends no more, so Node ends the connection. A part of a response must not look whole. */
    onEnd(): void {
      const [exchange] = queue
      if (!exchange?.response.headersSent || exchange.response.writableFinished) return
      // An early response waits for the body, of which no more comes.
      if (exchange.response.earlyEnd) exchange.request.emit('halfClosed')
      else socket.resetAndDestroy()
    },
  }
}
