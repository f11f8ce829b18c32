// Checks values against the schemas of the contract.
import { Ajv, type ErrorObject } from 'ajv'
import { HttpError } from '../http/http-error.ts'
import { contract, type Operation } from './contract.ts'

/** `npm run check` has checked that they are valid. */
const ajv = new Ajv({
  strict: false,
  validateSchema: false,
  strictNumbers: true, // 1e400 is not a number
  removeAdditional: 'all', // other fields are ignored: they must not take memory while the handler works
  verbose: true, // an error has the value
  validateFormats: false, // they are for generators
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

export const invalidBody = (message: string, options?: ErrorOptions) =>
  new HttpError(400, 'body_invalid', message, options)

/**
 * A function that checks the bodies of an operation, and removes their other fields. An absent body
 * (`undefined`) is never valid; its message is that of `{}`. Throws an HttpError 400.
 */
export function validator({ bodySchema = {} }: Pick<Operation, 'bodySchema'>) {
  const schema = withAccepted(bodySchema)
  const valid = compile(schema)
  return (body: unknown): unknown => {
    if (!valid(body === undefined ? {} : body) || body === undefined)
      throw invalidBody(describe(valid.errors?.[0], schema.required))
    const fields = Object.entries(Object(body))
    const malformed = fields.find((field) => !isWellFormed(field))
    if (malformed) throw invalidBody(`field \`${malformed[0].toWellFormed()}\` ${LONE}`)
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

/** What is wrong with a body, for people. A required field that is null or empty counts as absent. */
function describe(error?: ErrorObject, required: string[] = []): string {
  const field = error?.instancePath.slice(1) || error?.params['missingProperty']
  if (!error || !field) return 'the body must be a JSON object'
  const isAbsent = error.keyword === 'required' || error.data === null || error.data === ''
  return `field \`${field}\` ${isAbsent && required.includes(field) ? 'is required' : error.message}`
}
