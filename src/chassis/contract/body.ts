// Reads the JSON body of a request with koa-bodyparser, the usual parser of Koa services, and validates it.
import bodyParser from 'koa-bodyparser'
import { batched } from '../batch.ts'
import { Aborted } from '../http/client.ts'
import type { Context } from '../http/context.ts'
import { BODY_TOO_LARGE, HttpError } from '../http/http-error.ts'
import { LIMITS } from '../http/limits.ts'
import type { IncomingRequest } from '../http/request.ts'
import type { Operation } from './operation.ts'
import { invalidBody, validator } from './validate.ts'

/**
 * A function that reads and validates a body of `operation`, and calls `respond` with it.
 *
 * @throws HttpError 400, 413 or 415; Aborted the client has left
 */
export function bodyReader(
  operation: Operation,
): (ctx: Context, respond: (body: unknown) => Promise<void>) => Promise<void> {
  const validate = validator(operation)

  /** Resolves when the body has arrived, to whether there is one. @throws HttpError 413, 415 */
  async function receive(ctx: Context): Promise<boolean> {
    const request = ctx.req
    const { headers } = request
    const { 'content-length': length, 'content-encoding': coding } = headers
    const isAbsent = (length ?? headers['transfer-encoding']) === undefined
    if (length === '0' || isAbsent) return false
    if (!isJson(headers['content-type'])) throw unsupported(`the body must be ${JSON_TYPE}`)
    if (coding !== undefined) {
      if (!NO_CODING.test(coding)) throw unsupported('the body must not be compressed')
      headers['content-encoding'] = 'identity' // koa-bodyparser knows only lower case
    }
    if (Number(length) > request.bodyLimit) throw BODY_TOO_LARGE
    if (expectsContinue(request)) {
      ctx.res.writeContinue()
      delete headers.expect // from now on, the client is sending
    }
    await request.arrival()
    if (ctx.headerSent) throw new Aborted('the request was refused')
    if (request.isBodyDropped) throw BODY_TOO_LARGE
    return true
  }

  return async (ctx, respond) => {
    const hasBody = await receive(ctx)
    const parseAndRespond = async () => respond(validate(hasBody ? await parse(ctx) : undefined))
    const isLarge = ctx.req.readableLength > LIMITS.largeBody
    await (isLarge ? respondToLarge(parseAndRespond, ctx.req) : parseAndRespond())
  }
}

/** Calls `respond` when one of the `LIMITS.maxLargeBodies` places is free. */
async function respondToLarge(respond: () => Promise<void>, request: IncomingRequest) {
  let response: Promise<void> | undefined
  await limitLarge(() => {
    response = respond()
    const abandoned = new Promise<void>((resolve) => request.once('abandoned', resolve))
    return Promise.race([response, abandoned])
  }, request)
  return response
}

/** Limits how many large bodies are parsed and stored at a time. Each fails alone. */
const limitLarge = batched(
  async ([hold]: (() => Promise<void>)[]) => [await hold!().catch((error: Error) => error)],
  { maxBatchSize: 1, concurrency: LIMITS.maxLargeBodies },
)

/** An empty list is no coding (RFC 9110 §5.6.1). */
const NO_CODING = /^[ \t,]*(identity[ \t,]*)?$/i

/** Whether it is one type, or several: programs and their libraries both set it, and Node joins them with a comma. */
const isJson = (types = ''): boolean => types === JSON_TYPE || JSON_TYPES.test(types)

/** RFC 9110 §8.3.1, with any parameters, also empty ones (§5.6.6). */
const TOKEN = "[!#$%&'*+.^`|~\\w-]+"
const PARAMETER = `${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*")`
const JSON_TYPE_PATTERN = `[ \\t]*application/json[ \\t]*(?:;[ \\t]*(?:${PARAMETER}[ \\t]*)?)*`
const JSON_TYPES = new RegExp(`^${JSON_TYPE_PATTERN}(?:,${JSON_TYPE_PATTERN})*$`, 'i')

const JSON_TYPE = 'application/json'

const unsupported = (message: string) => new HttpError(415, 'unsupported_media_type', message)

/** RFC 9110 §10.1.1; HTTP/1.0 has no interim responses. */
const expectsContinue = ({ httpVersion, headers }: IncomingRequest): boolean =>
  httpVersion === '1.1' && headers.expect?.toLowerCase() === '100-continue'

const parseJson = bodyParser({
  enableTypes: ['json'],
  detectJSON: () => true, // the media type is already checked
  jsonLimit: '1mb', // the most that BODY_LIMIT can be; the size is already checked
  strict: false, // the schema decides which JSON is valid
  onProtoPoisoning: 'ignore', // `__proto__` is an ordinary field: bodies are never merged into objects
} as bodyParser.Options)

/** The body of a request, parsed; undefined if it is empty. @throws HttpError 400 */
async function parse(ctx: Context): Promise<unknown> {
  const { request } = ctx
  if (ctx.req.readableDidRead || ctx.req.readableEncoding) throw new Error(READ)
  // koa-bodyparser would replace what is not UTF-8.
  if (!ctx.req.isUtf8) throw invalidBody('the body is not valid UTF-8')
  try {
    await parseJson(ctx, async () => {})
  } catch {
    throw invalidBody('the body is not valid JSON')
  }
  const { body } = request
  const rawBody = request.rawBody as string
  // The context lives until the client has read the response.
  request.body = undefined
  request.rawBody = ''
  if (rawBody === '') return undefined
  if (!MAY_BE_ROUNDED.test(rawBody)) return body
  const exact = rawBody.replaceAll(LONG_NUMBER, (part) => (isRounded(part) ? TOO_LARGE : part))
  return exact === rawBody ? body : JSON.parse(exact)
}

const READ = 'the guard has read the body, or set its encoding: only handlers get a body'

/** Finds every LONG_NUMBER, and more, in a fraction of the time. */
const MAY_BE_ROUNDED = /\d[\d.]{15}|\de[+-]?\d{3}/i

/** A string, which has no numbers, or a number that JSON.parse may round: with 15 digits or more, or a large exponent. */
const LONG_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]{15,}(?:e[+-]?\d+)?|-?\d[\d.]*e[+-]?\d{3,}/gi

/** In place of a number that would be rounded, which `validate` refuses in a field that it keeps. */
const TOO_LARGE = '9e99'

/** Whether a number has other digits when it is written again (RFC 7493 §2.2), but for zeros at its end. */
function isRounded(part: string): boolean {
  if (part.startsWith('"')) return false
  const [digits, again] = [digitsOf(part), digitsOf(String(Number(part)))]
  return digits.padEnd(again.length, '0') !== again.padEnd(digits.length, '0')
}

/** The digits of a number, from the first that is not zero. */
const digitsOf = (number: string): string => number.replaceAll(/e.*|[-.]/gi, '').replace(/^0+/, '')
