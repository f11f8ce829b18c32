// Receives the bytes of a request body and undoes their content coding. Minds the limit, and the memory
// that all bodies take together. Never parses.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable, type Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import {
  bodyTooLarge,
  Failure,
  invalidBody,
  requestTimeout,
  unsupportedMediaType,
} from '../http/failure.ts'

/**
 * A function that receives the bodies of requests; one that is absent has no bytes.
 *
 * @param limit the largest body in bytes, as it is sent and unpacked
 * @throws Failure 400, 408, 413 or 415
 */
export function receiver(
  mediaTypes: string[],
  limit: number,
): (ctx: Koa.Context) => Promise<Buffer> {
  const unpack = unpacker(mediaTypes, limit)
  return async (ctx) => {
    const { headers } = ctx.req
    const length = Number(headers['content-length']) // Koa takes it for a 32-bit integer
    const type = length === 0 ? null : ctx.is(mediaTypes)
    if (type === null) return Buffer.alloc(0)
    if (type === false) throw unsupportedMediaType(`the body must be ${mediaTypes.join(' or ')}`)
    headers['content-encoding'] = headers['content-encoding']?.toLowerCase() // RFC 9110 §8.4.1
    const body = new Body()
    try {
      if (length > limit) throw bodyTooLarge()
      const bytes = await body.collect(ctx.req, ctx.res, limit)
      return headers['content-encoding'] ? await unpack(ctx, bytes, body) : bytes
    } catch (error) {
      room.leave(body)
      await drop(ctx.req)
      throw unreadable(error as Error & { status?: number })
    } finally {
      room.leave(body)
    }
  }
}

function unreadable(error: Error & { status?: number }): Failure {
  if (error instanceof Failure) return error
  if (error.status === 413) return bodyTooLarge()
  if (error.status === 415) return unsupportedMediaType('the content coding of the body is unknown')
  return invalidBody('the body cannot be read', { cause: error })
}

/** A body takes no room as long as its buffer is no larger than this, in bytes. */
const SMALL = 16 * 1024

/** How many bytes the buffers of all others may have. */
const ROOM = 64 * 1024 * 1024

/** The room there is. Where none is left the oldest body goes: of all it has had the most time. */
const room = {
  bodies: new Map<Body, number>(),
  taken: 0,
  enter(body: Body, size: number): void {
    room.taken += size - (room.bodies.get(body) ?? 0)
    room.bodies.set(body, size)
    for (const oldest of room.bodies.keys()) {
      if (room.taken <= ROOM) return
      room.leave(oldest)
      oldest.giveUp()
    }
  },
  leave(body: Body): void {
    room.taken -= room.bodies.get(body) ?? 0
    room.bodies.delete(body)
  },
}

/** The bytes of a body, as they come. */
class Body {
  #bytes: Buffer = Buffer.allocUnsafe(1024)
  #length = 0
  #reject: (error: Error) => void = () => {}
  isGivenUp = false

  /** Copies each chunk as it comes: to keep one of a single byte takes hundreds. */
  async collect(
    request: IncomingMessage,
    response: ServerResponse,
    limit: number,
  ): Promise<Buffer> {
    const expected = Number(request.headers['content-length'] ?? 0)
    const onData = (chunk: Buffer) => this.#add(chunk, limit, expected)
    const ended = new Promise<void>((resolve, reject) => {
      this.#reject = reject
      request.once('end', resolve).on('error', reject).on('data', onData)
      // Of the end of a connection that has got its answer Node does not tell the request.
      response.once('close', () => reject(new Error('broken off')))
    })
    try {
      await ended
      return this.#bytes.subarray(0, this.#length)
    } finally {
      request.off('data', onData)
    }
  }

  giveUp(): void {
    this.isGivenUp = true
    this.#bytes = Buffer.alloc(0)
    this.#reject(requestTimeout())
  }

  #add(chunk: Buffer, limit: number, expected: number): void {
    const whole = this.#length + chunk.length
    if (whole > limit) return this.#reject(bodyTooLarge())
    if (whole > this.#bytes.length) this.#grow(expected || Math.min(2 * whole, limit))
    if (!this.isGivenUp) this.#length += chunk.copy(this.#bytes, this.#length)
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafe(size)
    this.#bytes.copy(larger)
    this.#bytes = larger
    if (size > SMALL) room.enter(this, size)
  }
}

/**
 * Undoes the content coding of bodies: by koa-bodyparser, which minds the limit. It is given bytes that are
 * there, for it would keep each chunk as it came, a hundred times its size if that is a byte; and is kept
 * from parsing, for it would turn broken UTF-8 into U+FFFD and refuse a field named `__proto__`.
 */
function unpacker(mediaTypes: string[], limit: number) {
  const options = { enableTypes: ['text'], extendTypes: { text: mediaTypes }, encoding: null }
  const parse = bodyParser({ ...options, textLimit: `${limit}b` })
  let last: Promise<unknown> = Promise.resolve()

  async function unpack(ctx: Koa.Context, bytes: Buffer, body: Body): Promise<Buffer> {
    if (body.isGivenUp) throw requestTimeout()
    const packed = new Packed(bytes, ctx.req.headers)
    try {
      await parse(Object.create(ctx, { req: { value: packed } }) as Koa.Context, async () => {})
      return ctx.request.body as Buffer
    } finally {
      packed.end()
    }
  }
  /** One at a time: of brotli each may take 16 MiB while it is at it. */
  return (ctx: Koa.Context, bytes: Buffer, body: Body): Promise<Buffer> => {
    const unpacked = last.then(() => unpack(ctx, bytes, body))
    last = unpacked.catch(() => {})
    return unpacked
  }
}

/**
 * What koa-bodyparser takes for a request. It leaves the stream that unpacks behind once there is too much,
 * and nobody would mind the errors of that (stream-utils/raw-body stops listening).
 */
class Packed extends Readable {
  readonly headers: IncomingMessage['headers']
  readonly #bytes: Buffer
  #unpacking: Writable | undefined

  constructor(bytes: Buffer, headers: IncomingMessage['headers']) {
    super()
    this.#bytes = bytes
    this.headers = headers
  }

  override _read(): void {
    this.push(this.#bytes)
    this.push(null)
  }

  override pipe<T extends NodeJS.WritableStream>(to: T): T {
    this.#unpacking = to.on('error', () => {}) as unknown as Writable
    return super.pipe(to)
  }

  end(): void {
    this.#unpacking?.destroy()
    this.destroy()
  }
}

/** How long, in milliseconds, the rest of a refused body is let in. */
const LINGER = 1_000

/** Lets the rest of the body in and drops it: a client that is still sending would not read its answer. */
async function drop(request: IncomingMessage): Promise<void> {
  request.unpipe().resume()
  if (request.complete || request.destroyed) return
  const ended = once(request, 'end').catch(() => {})
  await Promise.race([ended, sleep(LINGER, undefined, { ref: false })])
}
