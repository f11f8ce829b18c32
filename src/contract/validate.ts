// Checks values against the schemas of the contract, and says what is wrong in words for people.
import { Ajv, type ErrorObject } from 'ajv'
import { HttpError } from '../http/http-error.ts'
import { contract, type Operation } from './contract.ts'

/** `npm run check` has checked that they are valid. */
const ajv = new Ajv({
  strict: false,
  meta: false,
  validateSchema: false,
  strictNumbers: true, // 1e400 is not a number
  removeAdditional: 'all', // other fields are ignored: they must not take memory while the store works
  verbose: true, // messages look at the schema and the value
  // int32 is for generators; the limits of a number are its minimum and its maximum
  formats: { int32: true },
}).addSchema(withAccepted(contract), 'openapi.yaml')

/** Compiles a schema of the contract, which may refer to others. */
export const compile = (schema: object) =>
  ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.yaml#/')))

/** What the service reads as it reads it: the keywords in `x-also-accepts` replace those of their schema. */
export function withAccepted<T extends object>(schema: T): T {
  return JSON.parse(JSON.stringify(schema), (_, part) =>
    part?.['x-also-accepts'] ? { ...part, ...part['x-also-accepts'] } : part,
  )
}

/**
 * A function that checks the bodies of an operation, and removes their other fields. An absent body
 * (`undefined`) is never valid; its message is that of `{}`. Throws a HttpError 400.
 */
export function validator(operation: Operation) {
  const schema = withAccepted(operation.bodySchema)
  const valid = compile(schema)
  return (body: unknown): unknown => {
    if (!valid(body === undefined ? {} : body) || body === undefined) {
      const error = new HttpError(400, describeInvalid(valid.errors?.[0], schema.required))
      valid.errors = null // it refers to the body
      throw error
    }
    const fields = Object.entries(Object(body))
    const malformed = fields.find((field) => !isWellFormed(field))
    if (malformed) throw new HttpError(400, `field \`${malformed[0].toWellFormed()}\` ${LONE}`)
    return body
  }
}

const LONE = 'must not contain a lone surrogate'

/** Whether UTF-8 can hold every text in `value`, and every key: stores would replace a lone surrogate. */
function isWellFormed(value: unknown): boolean {
  const parts = [value]
  for (const part of parts) {
    if (typeof part === 'string' && !part.isWellFormed()) return false
    if (typeof part !== 'object') continue
    for (const field of Object.entries(part ?? {})) parts.push(...field) // no recursion, however deep it is
  }
  return true
}

/** What is wrong with a body, for people. A required field that is null counts as absent. */
function describeInvalid(error?: ErrorObject, required: string[] = []): string {
  const field = error?.instancePath.slice(1) || error?.params['missingProperty']
  if (!error || !field) return 'the body must be a JSON object'
  const isAbsent = error.data === null && required.includes(field)
  return `field \`${field}\` ${isAbsent ? 'is required' : describeProblem(error)}`
}

/** What is wrong with a value, as the end of a sentence. */
export function describeProblem(error: ErrorObject): string {
  const { keyword, schema, parentSchema, message = 'is invalid' } = error
  if (keyword === 'required') return 'is required'
  if (keyword === 'minLength' && schema === 1)
    return parentSchema?.['x-empty-is-absent'] ? 'is required' : 'must not be empty'
  if (keyword === 'type') return `must be ${TYPES[String(schema)] ?? 'a string'}`
  if (keyword === 'pattern') return `must look like \`${parentSchema?.['x-looks-like'] ?? schema}\``
  if (keyword === 'minimum') return `must be at least ${String(schema)}`
  if (keyword === 'maximum') return `must be at most ${String(schema)}`
  if (keyword === 'minLength') return `must have at least ${String(schema)} characters`
  if (keyword === 'maxLength') return `must have at most ${String(schema)} characters`
  return message
}

const TYPES: Record<string, string> = {
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
}
