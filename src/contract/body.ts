// Reads the JSON body of a request: koa-bodyparser, with a limit on the size of a body, and on the
// memory that all bodies and lists share.
import { isUtf8 } from 'node:buffer'
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { unzipSync } from 'node:zlib'
import type Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import type { Budget } from '../http/budget.ts'
import { drop } from '../http/drop.ts'
import { LIMITS } from '../http/limits.ts'
import type { Request } from '../http/request.ts'
import {
  bodyTooLarge,
  Failure,
  invalidBody,
  requestTimeout,
  unsupportedMediaType,
} from '../http/failure.ts'
import type { Operation } from './document.ts'
import { validator } from './validate.ts'

/**
 * A function that reads and validates a body of `operation`, and calls `serve` with it.
 *
 * @param limit the largest body in bytes, as sent and decompressed
 * @param memory the budget that all bodies and lists share
 * @throws Failure 400, 408, 413 or 415
 */
export function bodyReader(
  operation: Operation,
  limit: number,
  memory: Budget,
): (ctx: Koa.Context, serve: (body: unknown) => Promise<void>) => Promise<void> {
  const { mediaTypes } = operation
  const validate = validator(operation)
  const parse = bodyParser({
    enableTypes: ['json'],
    detectJSON: () => true, // the media type is checked below
    jsonLimit: `${limit}b`,
    strict: false, // the schema decides which JSON is valid
    onProtoPoisoning: 'ignore', // `__proto__` is an ordinary field: bodies are never merged into objects
  } as bodyParser.Options)

  async function read({ req, res }: Koa.Context, body: Body): Promise<unknown> {
    const request: { body?: unknown; rawBody?: string } = {}
    try {
      const stream = streamOf(await body.arrival(res))
      await parse({ req: stream, request } as unknown as Koa.Context, async () => {})
    } catch (error) {
      await drop(req)
      throw unreadable(error as Error)
    }
    return validate(request.rawBody === '' ? undefined : request.body)
  }

  return async (ctx, serve) => {
    const length = Number(ctx.req.headers['content-length']) // Koa reads it as a 32-bit integer
    const type = length === 0 ? null : ctx.is(mediaTypes)
    if (type === null) return void validate(undefined)
    if (type === false) throw unsupportedMediaType(`the body must be ${mediaTypes.join(' or ')}`)
    const decode = decoderOf(ctx.req, limit)
    if (length > limit) throw bodyTooLarge()
    if (expectsContinue(ctx.req)) ctx.res.writeContinue()
    await serve(await read(ctx, new Body(ctx.req as Request, limit, memory, decode, length)))
  }
}

/** RFC 9110 §10.1.1; HTTP/1.0 has no interim responses. */
const expectsContinue = ({ httpVersion, headers }: IncomingMessage): boolean =>
  httpVersion === '1.1' && headers.expect?.toLowerCase() === '100-continue'

function unreadable(error: Error): Failure {
  if (error instanceof Failure) return error
  if (error instanceof SyntaxError) return invalidBody('the body is not valid JSON')
  return invalidBody('the body cannot be read', { cause: error })
}

/**
 * What koa-bodyparser reads: it has nothing to decompress, and no length to check. Not a `Readable`, with which a
 * log-in takes 5 % more time (`npm run bench`, 1 and 8 connections).
 */
function streamOf(bytes: Buffer): EventEmitter {
  const stream = Object.assign(new EventEmitter(), { headers: {} })
  process.nextTick(() => {
    stream.emit('data', bytes)
    stream.emit('end')
  })
  return stream
}

/**
 * Collects a body. From the request itself, koa-bodyparser would keep every chunk, and a chunk of one byte takes
 * hundreds of bytes of memory.
 */
class Body {
  readonly #request: Request
  readonly #limit: number
  readonly #memory: Budget
  readonly #decode: Decoder | undefined
  /** All but the last are full. */
  #parts: Buffer[] = []
  /** How many bytes of the last part are free. */
  #free = 0
  #length = 0
  readonly #most: number
  #fail: (reason: Error) => void = () => {}

  /** @param declared the `Content-Length`, or NaN */
  constructor(
    request: Request,
    limit: number,
    memory: Budget,
    decode: Decoder | undefined,
    declared: number,
  ) {
    this.#request = request
    this.#most = declared || limit
    this.#limit = limit
    this.#memory = memory
    this.#decode = decode
  }

  /** Resolves to the body in one piece, decompressed. @throws Failure 400, 408, 413 */
  async arrival(response: ServerResponse): Promise<Buffer> {
    const request = this.#request
    const isSmall = request.readableLength <= Math.min(this.#limit, LIMITS.smallPart)
    // Most bodies arrive with their headers: with 1 and 8 connections, a log-in takes 5 % less time (`npm run bench`).
    if (request.complete && isSmall && !this.#decode) return utf8(request.read() ?? NONE)
    return new Promise((resolve, reject) => {
      const take = () => this.#take()
      const leave = () => this.#fail(new Error('the connection closed'))
      const stop = () => {
        request.stopReading = undefined
        request.off('readable', take).off('end', end)
      }
      const end = () => {
        stop()
        const size = this.#decode ? this.#limit : this.#length
        this.#memory.work(request, size, () => {
          response.off('close', leave)
          try {
            resolve(this.#whole())
          } catch (error) {
            reject(error)
          }
        })
      }
      this.#fail = (reason) => {
        stop()
        this.#parts = []
        this.#free = 0
        reject(reason)
      }
      request.stopReading = () => this.#fail(requestTimeout())
      request.on('readable', take).once('end', end)
      response.once('close', leave)
    })
  }

  /** Takes what has arrived, at once or when there is room. */
  #take(): void {
    const request = this.#request
    request.via?.noteProgress()
    const arrived = request.readableLength
    const length = this.#length + arrived
    if (length > this.#limit) return this.#fail(bodyTooLarge())
    if (arrived <= this.#free || length <= LIMITS.smallPart) return this.#append(request.read())
    const size = Math.min(length + PART_SIZE, this.#most)
    this.#memory.next(request, size, () => {
      if (!this.#memory.hold(request, size)) return // it has just given up
      this.#append(request.read(arrived))
      this.#take()
    })
  }

  #append(chunk: Buffer | null): void {
    if (!chunk) return
    const last = this.#parts.at(-1) ?? NONE
    const copied = chunk.copy(last, last.length - this.#free)
    this.#free -= copied
    this.#length += chunk.length
    if (copied === chunk.length) return
    const rest = chunk.subarray(copied)
    const size = this.#length <= LIMITS.smallPart ? 1024 : PART_SIZE
    const part = Buffer.allocUnsafe(
      Math.max(rest.length, Math.min(size, this.#most - this.#length)),
    )
    this.#free = part.length - rest.copy(part)
    this.#parts.push(part)
  }

  /** @throws Failure 400, 413 */
  #whole(): Buffer {
    const [first = NONE, ...others] = this.#parts
    const all = others.length === 0 ? first : Buffer.concat(this.#parts)
    const sent = all.subarray(0, this.#length)
    this.#parts = []
    return utf8(this.#decode ? this.#decode(sent) : sent)
  }
}

/** Returns `bytes`. @throws Failure 400, if they are not valid UTF-8 */
function utf8(bytes: Buffer): Buffer {
  if (!isUtf8(bytes)) throw invalidBody('the body is not valid UTF-8')
  return bytes
}

const NONE = Buffer.alloc(0)

/** In bytes. A client that sends less within `LIMITS.patience` makes no progress. */
const PART_SIZE = 16 * 1024

type Decoder = (bytes: Buffer) => Buffer

/**
 * Undoes the content coding (RFC 9110 §8.4.1); undefined if there is none. Synchronous, so that only one body at a
 * time needs memory for this. Not brotli: a megabyte can keep the process busy for seconds.
 */
function decoderOf({ headers }: IncomingMessage, maxOutputLength: number): Decoder | undefined {
  const coding = headers['content-encoding']?.toLowerCase() ?? 'identity'
  if (coding === 'identity') return undefined
  if (coding !== 'gzip' && coding !== 'deflate') {
    throw unsupportedMediaType('the content coding of the body must be gzip or deflate')
  }
  return (bytes) => {
    try {
      return unzipSync(bytes, { maxOutputLength })
    } catch (error) {
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      throw isTooLarge ? bodyTooLarge() : error
    }
  }
}
