// Reads a request body and holds it against the schema that the contract gives it.
import type { ErrorObject } from 'ajv/dist/2020.js'
import type Koa from 'koa'
import { invalidBody } from '../http/failure.ts'
import { ajv } from './ajv.ts'
import type { Operation } from './document.ts'
import { receiver } from './receive.ts'

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

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch (error) {
    throw invalidBody(`the body is not valid ${error instanceof SyntaxError ? 'JSON' : 'UTF-8'}`)
  }
}

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
