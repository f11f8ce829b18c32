// Reads a request body and holds it against the schema that the contract gives it.
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type Koa from 'koa'
import bodyParser from 'koa-bodyparser'
import { bodyTooLarge, Failure, invalidBody, unsupportedMediaType } from '../errors.ts'
import { contract, type Operation } from './contract.ts'

/**
 * Reads and validates the JSON bodies of `operation`.
 *
 * @param limit the largest body in bytes, after decompression
 * @throws Failure 400, 413 or 415: the body is invalid, too large, or not JSON
 */
export function bodyReader(
  operation: Operation,
  limit: number,
): (ctx: Koa.Context) => Promise<unknown> {
  const receive = receiver(operation.mediaTypes, limit)
  const validate = validator(operation)
  return async (ctx) => {
    const bytes = await receive(ctx)
    return validate(bytes.length > 0 ? parseJson(bytes) : undefined)
  }
}

function receiver(mediaTypes: string[], limit: number) {
  const unpack = unpacker(mediaTypes, limit)
  return async (ctx: Koa.Context): Promise<Buffer> => {
    const { headers } = ctx.req
    const length = Number(headers['content-length']) // Koa takes it for a 32-bit integer
    const type = length === 0 ? null : ctx.is(mediaTypes)
    if (type === null) return Buffer.alloc(0)
    if (type === false) throw unsupportedMediaType(`the body must be ${mediaTypes.join(' or ')}`)
    headers['content-encoding'] = headers['content-encoding']?.toLowerCase() // RFC 9110 §8.4.1
    try {
      if (length > limit) throw bodyTooLarge()
      const bytes = await collect(ctx.req, ctx.res, limit)
      return headers['content-encoding'] ? await unpack(ctx, bytes) : bytes
    } catch (error) {
      await drop(ctx.req)
      throw unreadable(error as Error & { status?: number })
    }
  }
}

function unreadable(error: Error & { status?: number }): Failure {
  if (error instanceof Failure) return error
  if (error.status === 413) return bodyTooLarge()
  if (error.status === 415) return unsupportedMediaType('the content coding of the body is unknown')
  return invalidBody('the body cannot be read', { cause: error })
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

  async function unpack(ctx: Koa.Context, bytes: Buffer): Promise<Buffer> {
    const req = Object.assign(Readable.from([bytes]), { headers: ctx.req.headers })
    await parse(Object.create(ctx, { req: { value: req } }) as Koa.Context, async () => {})
    return ctx.request.body as Buffer
  }
  /** One at a time: of brotli each may take 16 MiB while it is at it. */
  return (ctx: Koa.Context, bytes: Buffer): Promise<Buffer> => {
    const unpacked = last.then(() => unpack(ctx, bytes))
    last = unpacked.catch(() => {})
    return unpacked
  }
}

/** Copies each chunk as it comes: to keep one of a single byte takes hundreds. */
async function collect(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<Buffer> {
  let bytes: Buffer = Buffer.allocUnsafe(1024)
  let length = 0
  let seat: Promise<void> | undefined
  const ended = new Promise<void>((resolve, reject) => {
    request.once('end', resolve).on('error', reject)
    // Of the end of a connection that has got its answer Node does not tell the request.
    response.once('close', () => reject(new Error('broken off')))
    request.on('data', (chunk: Buffer) => {
      const whole = length + chunk.length
      if (whole > limit) return reject(bodyTooLarge())
      if (whole > bytes.length) bytes = grown(bytes, Math.max(whole, Math.min(2 * whole, limit)))
      length += chunk.copy(bytes, length)
      if (length > SMALL && !seat) {
        request.pause()
        seat = seats.take().then(() => void request.resume())
      }
    })
  })
  try {
    await ended
    return bytes.subarray(0, length)
  } finally {
    void seat?.then(seats.leave)
  }
}

function grown(bytes: Buffer, size: number): Buffer {
  const larger = Buffer.allocUnsafe(size)
  bytes.copy(larger)
  return larger
}

/** Up to here a body is small, in bytes; how many of those that are not are received at once. */
const SMALL = 16 * 1024
const LARGE_AT_ONCE = 32

/** Places for large bodies, or memory would have no bound but that of connections. Others wait in line. */
const seats = {
  free: LARGE_AT_ONCE,
  line: [] as (() => void)[],
  async take() {
    if (seats.free > 0) seats.free -= 1
    else await new Promise<void>((resolve) => seats.line.push(resolve))
  },
  leave: () => {
    const next = seats.line.shift()
    if (next) next()
    else seats.free += 1
  },
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

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch (error) {
    throw invalidBody(`the body is not valid ${error instanceof SyntaxError ? 'JSON' : 'UTF-8'}`)
  }
}

const ajv = new Ajv2020({
  strict: false,
  strictNumbers: true, // 1e400 is none
  verbose: true, // messages look at the schema and the value
  formats: { 'well-formed-unicode': (text: string) => text.isWellFormed() },
}).addSchema(contract, 'openapi.yaml')

/**
 * A function that checks a body; an absent one (`undefined`) lacks every field, and is no object if none
 * is required. It throws a Failure 400.
 */
export function validator({ path, method, mediaTypes }: Operation) {
  const media = [path, method, 'requestBody', 'content', mediaTypes[0] as string, 'schema']
  const pointer = ['paths', ...media].map(escapePointer).join('/')
  const valid = ajv.compile({ $ref: `openapi.yaml#/${pointer}` })
  return (body: unknown): unknown => {
    if (valid(body === undefined ? {} : body) && body !== undefined) return body
    throw invalidBody(sentence(valid.errors?.[0]))
  }
}

/** RFC 6901 §3, within a URI fragment. */
const escapePointer = (key: string) =>
  encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))

/** What is wrong, for people. */
function sentence(error?: ErrorObject): string {
  const field = error?.instancePath.slice(1) || error?.params['missingProperty']
  if (!error || !field) return 'the body must be a JSON object'
  return `field \`${field}\` ${complaint(error)}`
}

function complaint({ keyword, data, parentSchema, message = 'is invalid' }: ErrorObject): string {
  if (keyword === 'required' || data === null) return 'is required'
  if (keyword === 'minLength') {
    return parentSchema?.['x-empty-is-absent'] ? 'is required' : 'must not be empty'
  }
  if (keyword === 'type') return 'must be a string'
  if (keyword === 'format') return 'must not hold a lone surrogate'
  return message
}
