// Checks values against the schemas of the contract.
import { Ajv, type ErrorObject } from 'ajv'
import { HttpError } from '../http/http-error.ts'
import type { Operation } from './contract.ts'

/** `npm run check` has checked that the schemas are valid. */
const ajv = new Ajv({
  strict: false,
  validateSchema: false,
  strictNumbers: true, // 1e400 is not a number
  removeAdditional: 'all', // other fields are ignored: they must not take memory while the handler works
  verbose: true, // an error has the value and its schema
  validateFormats: false, // they are for generators
})

/** @param problem the end of a sentence @param code `x-code` of the schema */
type ToError = (name: string, problem: string, code?: string) => HttpError

/** A function that checks and returns the values of parameters, by their names. */
export function parameterValidator(parameters: Operation['parameters'], toError: ToError) {
  const schemas = parameters.map(({ name, schema }) => [name, schema])
  const valid = ajv.compile({ properties: Object.fromEntries(schemas) })
  return (values: Record<string, unknown>) => {
    if (valid(values)) return values
    const error = valid.errors![0]!
    throw toError(error.instancePath.slice(1), problemIn(error), error.parentSchema?.['x-code'])
  }
}

/** What is wrong, for people: after the name of the value. A schema can have its own words, as `x-message`. */
function problemIn({ keyword, params, parentSchema, message = '' }: ErrorObject): string {
  if (keyword === 'enum') return `must be one of ${params['allowedValues'].join(', ')}`
  return parentSchema?.['x-message'] ?? message
}

export const invalidBody = (message: string) => new HttpError(400, 'body_invalid', message)

/**
 * A function that checks the bodies of an operation, and removes their other fields. An absent body
 * (`undefined`) is never valid; its message is that of `{}`. Throws an HttpError 400.
 */
export function validator({ bodySchema = {} }: Pick<Operation, 'bodySchema'>) {
  const valid = ajv.compile(bodySchema)
  return (body: unknown): unknown => {
    if (!valid(body === undefined ? {} : body) || body === undefined)
      throw invalidBody(describe(valid.errors?.[0], bodySchema.required))
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
  return `field \`${field}\` ${isAbsent && required.includes(field) ? 'is required' : problemIn(error)}`
}
