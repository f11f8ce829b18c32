// Checks values against the schemas of the contract.
import type { ErrorObject } from 'ajv'
import { HttpError } from '../http/http-error.ts'
import { compile, problemIn } from './ajv.ts'
import type { Operation, Parameter } from './operation.ts'

/** @param problem the end of a sentence @param code `x-code` of the schema */
type ToError = (name: string, problem: string, code?: string) => HttpError

/** A function that checks and returns the values of parameters, by their names. It fills in defaults. */
export function parameterValidator(id: string, parameters: Parameter[], toError: ToError) {
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name)
  const valid = compile(id, { type: 'object', properties, required })
  return (values: Record<string, unknown>) => {
    if (valid(values)) return values
    const error = valid.errors![0]!
    const { missingProperty } = error.params
    if (missingProperty !== undefined) throw toError(missingProperty, 'is required')
    const [, name = ''] = error.instancePath.split('/') // `/tag/0` is the first value of `tag`
    throw toError(name, problemIn(error), error.parentSchema?.['x-code'])
  }
}

export const invalidBody = (message: string) => new HttpError(400, 'body_invalid', message)

/**
 * A function that checks the bodies of an operation, and removes their other fields. An absent body
 * (`undefined`) is never valid; its message is that of `{}`. Throws an HttpError 400.
 */
export function validator({ id, bodySchema = {} }: Pick<Operation, 'id' | 'bodySchema'>) {
  const valid = compile(id, bodySchema)
  return (body: unknown): unknown => {
    if (!valid(body === undefined ? {} : body) || body === undefined)
      throw invalidBody(describe(valid.errors?.[0], bodySchema.required))
    for (const field of Object.entries(Object(body))) {
      const problem = interoperabilityProblem(field)
      if (problem) throw invalidBody(`field \`${field[0].toWellFormed()}\` ${problem}`)
    }
    return body
  }
}

const LONE_SURROGATE = 'must not contain a lone surrogate'
const ROUNDED_NUMBER = 'must not contain a number beyond ±(2^53 − 1), or one that would be rounded'

/**
 * What is wrong with a text or a number in `parts`, or a key, that would become another one: UTF-8 cannot hold a lone
 * surrogate, and JSON.parse rounds large numbers (RFC 7493, I-JSON, §2).
 *
 * @param parts grows: no recursion, however deep they are
 */
function interoperabilityProblem(parts: unknown[]): string | undefined {
  for (const part of parts) {
    if (typeof part === 'string' && !part.isWellFormed()) return LONE_SURROGATE
    if (typeof part === 'number' && Math.abs(part) > Number.MAX_SAFE_INTEGER) return ROUNDED_NUMBER
    if (typeof part !== 'object') continue
    for (const field of Object.entries(part ?? {})) parts.push(...field)
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
