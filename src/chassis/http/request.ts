// A request of Node's server: it collects its body, and has who calls and what the log says about it.
import { AsyncResource } from 'node:async_hooks'
import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Aborted, type Client, type RequestFields } from './client.ts'
import type { HttpError } from './http-error.ts'
import { LIMITS } from './limits.ts'

export class IncomingRequest extends IncomingMessage implements Omit<Client, 'log'> {
  readonly log: RequestFields = {}
  /** The error with which to respond to it, whatever it asks for. */
  refusal: HttpError | undefined
  /** When the client last sent a part of it, or read a page of the response, in milliseconds. */
  lastProgress = performance.now()

  /** In bytes. A larger body is not kept. */
  bodyLimit = 0
  /** Whether no more of the body is kept: it has more bytes than `bodyLimit` or too many chunks, or is dropped. */
  isBodyDropped = false
  /** Whether the body is valid UTF-8, once it has arrived. */
  isUtf8 = true
  #caller: unknown
  #signal?: AbortSignal
  #abort?: (reason: Error) => void
  #timer?: NodeJS.Timeout
  #isOver = false
  #pieces: Buffer[] = []
  #length = 0
  #chunks = 0

  /** Says who calls. @param caller anything but null and undefined, which are nobody */
  identify(caller: unknown): void {
    if (caller instanceof Promise)
      throw new TypeError('the guard has identified a promise: await it')
    this.#caller = caller ?? undefined
  }

  /** Whether the guard has said who calls. */
  get isIdentified(): boolean {
    return this.#caller !== undefined
  }

  get caller(): unknown {
    if (this.isIdentified) return this.#caller
    throw new Error('the guard has not said who calls')
  }

  get hasLeft(): boolean {
    return this.socket.destroyed
  }

  get signal(): AbortSignal {
    if (this.#signal) return this.#signal
    const controller = new AbortController()
    const abort = AsyncResource.bind((reason: Error) => controller.abort(reason)) // listeners run in this context
    const ms = this.lastProgress + LIMITS.signalTimeout - performance.now()
    this.#timer = setTimeout(() => abort(new DOMException(LATE, 'TimeoutError')), ms).unref()
    this.#abort = abort
    if (this.hasLeft || this.#isOver) this.responseClosed(!this.hasLeft)
    return (this.#signal = controller.signal)
  }

  /** Its response has closed. @param isWhole whether all of it was written */
  responseClosed(isWhole: boolean): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    const hasLeft = !isWhole || !this.complete // a response to half a request ends the connection
    if (hasLeft) this.#abort?.(new Aborted('the client has left'))
  }

  /**
   * Called by Node's parser with each part of the body, and with null at its end. The stream gets the body in one
   * piece: as a chunk of its own, each byte could take hundreds of bytes of memory.
   *
   * @returns whether to read on
   */
  override push(chunk: Buffer | null): boolean {
    if (chunk === null) {
      if (this.#pieces.length > 0) {
        const pieces = this.#pieces.splice(0)
        const body = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
        this.isUtf8 = isUtf8(body)
        super.push(body)
      }
      super.push(null)
      this.emit('arrived') // for arrival()
      return false // there is no more to read
    }
    this.lastProgress = performance.now()
    this.#chunks += 1
    this.#length += chunk.length
    this.isBodyDropped ||= this.#length > this.bodyLimit || this.#chunks > LIMITS.maxChunks
    if (this.isBodyDropped) this.emit('arrived')
    else if (this.#pieces.push(chunk) > LIMITS.maxPieces)
      this.#pieces = [Buffer.concat(this.#pieces)]
    return this.#chunks <= LIMITS.maxChunks
  }

  /** Its client has left: no more of the body arrives. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#pieces = [] // what still holds the request would keep them: 60 MB, when a flood leaves at once
    this.emit('arrived')
    super._destroy(error, done)
  }

  /** Reads on, but not after too many chunks, whatever Node wants to read. */
  override _read(size: number): void {
    if (this.#chunks <= LIMITS.maxChunks) super._read(size)
  }

  /** Resolves when no more of the body is wanted: it has arrived, or is dropped, or its client has left. */
  async arrival(): Promise<void> {
    if (!this.complete && !this.isBodyDropped) await once(this, 'arrived')
  }

  /** Drops the body, also what still arrives, for at most `LIMITS.linger`. */
  async dropRest(): Promise<void> {
    this.#pieces = [] // otherwise the timer would keep them, also when the client has left: 50 MB in a flood
    this.isBodyDropped = true
    this.emit('arrived')
    this.resume().read(0) // otherwise Node would drop it without counting its chunks
    if (this.complete || this.socket.readableEnded) return
    const ends = ['end', 'halfClosed'].map((event) => once(this, event).catch(() => {}))
    await Promise.race([...ends, sleep(LIMITS.linger, undefined, { ref: false })])
  }

  /**
   * Whether Node's parser stops after this request: after CONNECT, and when the connection is closed. Otherwise it would
   * create every request that a packet contains: 500 clients that send 3,000 requests each would end the process.
   */
  get upgrade(): boolean {
    return this.method === 'CONNECT' || this.socket.destroyed
  }

  set upgrade(_offered: boolean | null) {} // Node sets it for the header `Upgrade`, which is ignored
}

const LATE = `what the handler waits for has taken longer than ${LIMITS.signalTimeout / 1_000} s`
