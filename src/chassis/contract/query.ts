// Reads the query of a request and checks it against the parameters of the contract. The error names a
// parameter that is unknown, malformed or repeated.
import { HttpError } from '../http/http-error.ts'
import type { Operation } from './operation.ts'
import { parameterValidator } from './validate.ts'

/** A function that reads and validates the text after the `?`. */
export function queryReader({ parameters }: Operation): (query: string) => Record<string, unknown> {
  const declared = parameters.filter((parameter) => parameter.in === 'query')
  if (declared.length === 0) return () => ({}) // the query is ignored
  const schemas = new Map(declared.map(({ name, schema }) => [name, schema]))
  const validate = parameterValidator(declared, invalidQuery)
  return (query) => {
    const values: Record<string, unknown> = Object.create(null) // it inherits no `constructor`
    for (const pair of query.split('&')) {
      if (pair === '') continue
      const [, key = '', text = ''] = PAIR.exec(pair)!
      const name = decode(key) ?? key
      const schema = schemas.get(name)
      if (!schema) throw invalidQuery(name, 'is unknown')
      if (name in values) throw invalidQuery(name, 'appears more than once')
      if (text.includes('@') && text.includes('+')) throw invalidQuery(name, MISTAKEN_PLUS)
      const value = decode(text)
      if (value === undefined) throw invalidQuery(name, 'must be percent-encoded UTF-8')
      values[name] = schema.type === 'integer' && INTEGER.test(value) ? Number(value) : value
    }
    return validate(values)
  }
}

const PAIR = /^([^=]*)=?([^]*)$/

/** As JSON writes it, so not ` 1`, `+1`, `01` or `1e2`. */
const INTEGER = /^-?(0|[1-9]\d*)$/

/** @param problem the end of a sentence */
const invalidQuery = (name: string, problem: string) =>
  new HttpError(400, 'query_invalid', `query parameter \`${name}\` ${problem}`)

/** Forms and clients encode `@`. So a value with `@` and `+` was written by hand, and `+` means a plus. */
const MISTAKEN_PLUS = 'must have `%2B` for a plus, or `%20` for a space'

/** Decodes as forms do (https://url.spec.whatwg.org/#urlencoded-parsing). Undefined if it is malformed. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
