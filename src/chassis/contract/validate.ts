// Checks values against the schemas of the contract.
import { Ajv, type ErrorObject } from 'ajv'
import { HttpError } from '../http/http-error.ts'
import type { Operation } from './operation.ts'

/** `npm run check` has checked that the schemas are valid. */
const ajv = new Ajv({
  strict: false,
  validateSchema: false,
  strictNumbers: true, // 1e400 is not a number
  ownProperties: true, // `constructor` is a name like any other
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
  if (keyword === 'type') return `must be ${[params['type']].flat().join(' or ')}`
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
    for (const field of Object.entries(Object(body))) {
      const flaw = flawIn(field)
      if (flaw) throw invalidBody(`field \`${field[0].toWellFormed()}\` ${flaw}`)
    }
    return body
  }
}

const LONE = 'must not contain a lone surrogate'
const INEXACT = 'must not contain a number beyond ±(2^53 − 1), or one that would be rounded'

/**
 * What is wrong with a text or a number in `value`, or a key, that would become another one: UTF-8 cannot hold a lone
 * surrogate, and JSON.parse rounds large numbers (RFC 7493 §2.2).
 */
function flawIn(value: unknown): string | undefined {
  const parts = [value]
  for (const part of parts) {
    if (typeof part === 'string' && !part.isWellFormed()) return LONE
    if (typeof part === 'number' && Math.abs(part) > Number.MAX_SAFE_INTEGER) return INEXACT
    if (typeof part !== 'object') continue
    for (const field of Object.entries(part ?? {})) parts.push(...field) // no recursion, however deep it is
  }
  return undefined
}

/** What is wrong with a body, for people. A required field that is null or empty counts as absent. */
function describe(error?: ErrorObject, required: string[] = []): string {
  const field = error?.instancePath.slice(1) || error?.params['missingProperty']
  if (!error) return 'the body must be a JSON object'
  if (!field && error.keyword === 'type') return `the body must be a JSON ${error.params['type']}`
  if (!field) return `the body ${problemIn(error)}`
  const isAbsent = error.keyword === 'required' || error.data === null || error.data === ''
  return `field \`${field}\` ${isAbsent && required.includes(field) ? 'is required' : problemIn(error)}`
}
