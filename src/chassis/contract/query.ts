// Reads the query of a request and checks it against the parameters of the contract. The error names a
// parameter that is unknown, malformed or repeated.
import { HttpError } from '../http/http-error.ts'
import type { Operation } from './operation.ts'
import { parameterValidator } from './validate.ts'

/** A function that reads and validates the text after the `?`. An array is a parameter that may be repeated. */
export function queryReader({ id, parameters }: Pick<Operation, 'id' | 'parameters'>) {
  const declared = parameters.filter((parameter) => parameter.in === 'query')
  if (declared.length === 0) return (): Record<string, unknown> => ({}) // the query is ignored
  const schemas = new Map(declared.map(({ name, schema }) => [name, schema]))
  const validate = parameterValidator(id, declared, invalidQuery)
  return (query: string) => {
    const values: Record<string, unknown> = Object.create(null) // it inherits no `constructor`
    for (const pair of query.split('&')) {
      if (pair === '') continue
      const [, key = '', text = ''] = PAIR.exec(pair)!
      const name = decode(key) ?? key
      const schema = schemas.get(name)
      if (!schema) throw invalidQuery(name, 'is unknown')
      const isArray = schema.type === 'array'
      if (name in values && !isArray) throw invalidQuery(name, 'appears more than once')
      const { type, format } = (isArray && schema.items) || schema
      const hasNoSpace = text.includes('@') || format === 'date-time'
      if (hasNoSpace && text.includes('+')) throw invalidQuery(name, MISTAKEN_PLUS)
      const decoded = decode(text)
      if (decoded === undefined) throw invalidQuery(name, 'must be percent-encoded UTF-8')
      const value = valueOf(decoded, type)
      if (!isArray) values[name] = value
      else if (name in values) (values[name] as unknown[]).push(value)
      else values[name] = [value]
    }
    return validate(values)
  }
}

const PAIR = /^([^=]*)=?([^]*)$/

/** The value of `type` that is written as JSON writes it, so not ` 1`, `+1`, `01`, `1e2` or `True`; else the text. */
function valueOf(text: string, type?: string): unknown {
  if (type === 'integer' && INTEGER.test(text) && Number.isSafeInteger(Number(text)))
    return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

const INTEGER = /^-?(0|[1-9]\d*)$/

/** @param problem the end of a sentence */
const invalidQuery = (name: string, problem: string) =>
  new HttpError(400, 'query_invalid', `query parameter \`${name}\` ${problem}`)

/** Forms and clients encode `@` and `+`. So such a value was written by hand, and its `+` means a plus. */
const MISTAKEN_PLUS = 'must have `%2B` for a plus, or `%20` for a space'

/** Decodes as forms do (https://url.spec.whatwg.org/#urlencoded-parsing). Undefined if it is malformed. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
