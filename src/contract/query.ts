// Reads the query of a request and holds it against the parameters that the contract gives it. Never
// guesses: what is unknown, repeated or malformed is refused by its name.
import { invalidQuery } from '../http/failure.ts'
import { ajv } from './ajv.ts'
import type { Operation, Parameter } from './document.ts'

type Query = Record<string, unknown>

/**
 * Reads and validates the queries of `operation`; undefined if it has none, and ignores whatever comes.
 *
 * @returns a function of the text behind the `?`
 */
export function queryReader(operation: Operation): ((query: string) => Query) | undefined {
  const declared = operation.parameters.filter((parameter) => parameter.in === 'query')
  if (declared.length === 0) return undefined
  const readers = new Map(declared.map((parameter) => [parameter.name, valueReader(parameter)]))
  return (query) => {
    const values: Query = {}
    for (const pair of query.split('&')) {
      if (pair === '') continue
      const [, key = '', text = ''] = PAIR.exec(pair)!
      const name = decode(key) ?? key
      const read = readers.get(name)
      if (!read) throw invalidQuery(name, 'is unknown')
      if (name in values) throw invalidQuery(name, 'is repeated')
      values[name] = read(text)
    }
    return values
  }
}

const PAIR = /^([^=]*)=?([^]*)$/

function valueReader({ name, schema }: Parameter): (text: string) => unknown {
  const valid = ajv.compile(schema)
  return (text) => {
    const decoded = decode(text)
    if (decoded === undefined) throw invalidQuery(name, 'must be percent-encoded UTF-8')
    const value = isNumeric(schema) ? numberIn(decoded) : decoded
    if (valid(value)) return value
    throw invalidQuery(name, valid.errors?.[0]?.message ?? 'is invalid')
  }
}

/** As forms are (https://url.spec.whatwg.org/#urlencoded-parsing), but undefined if it is not well-formed. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

const isNumeric = (schema: { type?: unknown }) =>
  schema.type === 'integer' || schema.type === 'number'

/** The number that is written as JavaScript writes it: not ` 1`, `+1`, `01`, `1e2`. Any other text as it is. */
function numberIn(text: string): number | string {
  const number = Number(text)
  return String(number) === text ? number : text
}
