// Checks bodies against the schemas of the contract, and says what is wrong in words for people.
import type { ErrorObject } from 'ajv/dist/2020.js'
import { invalidBody } from '../http/failure.ts'
import { ajv } from './ajv.ts'
import type { Operation } from './document.ts'

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
