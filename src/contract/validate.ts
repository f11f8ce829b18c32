// Checks values against the schemas of the contract, and says what is wrong in words for people.
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { invalidBody } from '../http/failure.ts'
import { contract, type Operation } from './document.ts'

/** Compiles schemas. `npm run check` has checked that they are valid. */
export const ajv = new Ajv2020({
  strict: false,
  meta: false,
  validateSchema: false,
  strictNumbers: true, // 1e400 is not a number
  removeAdditional: 'all', // other fields are ignored: they must not take memory while the store works
  verbose: true, // messages look at the schema and the value
  formats: { 'well-formed-unicode': (text: string) => text.isWellFormed() },
}).addSchema(withAccepted(contract), 'openapi.yaml')

/** The contract as the service reads it: a schema also has the types in its `x-also-accepts`. */
export function withAccepted(document: object): object {
  return JSON.parse(JSON.stringify(document), (_, part) => {
    const more = part?.['x-also-accepts']
    return more ? { ...part, type: [part.type, ...more] } : part
  })
}

/**
 * A function that checks the bodies of an operation, and removes their other fields. An absent body
 * (`undefined`) is never valid; its message is that of `{}`. Throws a Failure 400.
 */
export function validator({ path, method, mediaTypes }: Operation) {
  const media = [path, method, 'requestBody', 'content', mediaTypes[0] as string, 'schema']
  const pointer = ['paths', ...media].map(escapePointer).join('/')
  const valid = ajv.compile({ $ref: `openapi.yaml#/${pointer}` })
  return (body: unknown): unknown => {
    if (valid(body === undefined ? {} : body) && body !== undefined) return body
    const failure = invalidBody(sentence(valid.errors?.[0]))
    valid.errors = null // it refers to the body
    throw failure
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

/** What is wrong with a value, as the end of a sentence. */
export function complaint(error: ErrorObject): string {
  const { keyword, data, schema, parentSchema, message = 'is invalid' } = error
  if (keyword === 'required' || data === null) return 'is required'
  if (keyword === 'minLength') {
    return parentSchema?.['x-empty-is-absent'] ? 'is required' : 'must not be empty'
  }
  if (keyword === 'type')
    return schema === 'integer' ? 'must be a whole number' : 'must be a string'
  if (keyword === 'format') return 'must not contain a lone surrogate'
  if (keyword === 'pattern') return `must look like \`${parentSchema?.['examples'][0]}\``
  if (keyword === 'minimum') return `must be at least ${String(schema)}`
  if (keyword === 'maximum') return `must be at most ${String(schema)}`
  return message
}
