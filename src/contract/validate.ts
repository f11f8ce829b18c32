// Checks values against the schemas of the contract, and says what is wrong in words for people.
import { Ajv, type ErrorObject } from 'ajv'
import { Failure } from '../http/failure.ts'
import { contract, type Operation } from './contract.ts'

/** `x-well-formed-unicode` is not a format: validators print a line for each format that they do not know. */
const isWellFormed = (_: unknown, text: string) => text.isWellFormed()

/** Compiles schemas. `npm run check` has checked that they are valid. */
export const ajv = new Ajv({
  strict: false,
  meta: false,
  validateSchema: false,
  strictNumbers: true, // 1e400 is not a number
  removeAdditional: 'all', // other fields are ignored: they must not take memory while the store works
  verbose: true, // messages look at the schema and the value
  // int32 is for generators; the limits of a number are its minimum and its maximum
  formats: { int32: true },
  keywords: [{ keyword: 'x-well-formed-unicode', type: 'string', validate: isWellFormed }],
}).addSchema(withAccepted(contract), 'openapi.yaml')

/** The contract as the service reads it: the keywords in `x-also-accepts` replace those of their schema. */
export function withAccepted(document: object): object {
  return JSON.parse(JSON.stringify(document), (_, part) =>
    part?.['x-also-accepts'] ? { ...part, ...part['x-also-accepts'] } : part,
  )
}

/**
 * A function that checks the bodies of an operation, and removes their other fields. An absent body
 * (`undefined`) is never valid; its message is that of `{}`. Throws a Failure 400.
 */
export function validator({ bodySchema }: Operation) {
  const absolute = JSON.stringify(bodySchema).replaceAll('"#/', '"openapi.yaml#/')
  const valid = ajv.compile(JSON.parse(absolute))
  return (body: unknown): unknown => {
    if (valid(body === undefined ? {} : body) && body !== undefined) return body
    const failure = new Failure(400, describeError(valid.errors?.[0]))
    valid.errors = null // it refers to the body
    throw failure
  }
}

/** What is wrong, for people. */
function describeError(error?: ErrorObject): string {
  const field = error?.instancePath.slice(1) || error?.params['missingProperty']
  if (!error || !field) return 'the body must be a JSON object'
  return `field \`${field}\` ${describeProblem(error)}`
}

/** What is wrong with a value, as the end of a sentence. */
export function describeProblem(error: ErrorObject): string {
  const { keyword, data, schema, parentSchema, message = 'is invalid' } = error
  if (keyword === 'required' || data === null) return 'is required'
  if (keyword === 'minLength' && schema === 1)
    return parentSchema?.['x-empty-is-absent'] ? 'is required' : 'must not be empty'
  if (keyword === 'type')
    return schema === 'integer' ? 'must be a whole number' : 'must be a string'
  if (keyword === 'x-well-formed-unicode') return 'must not contain a lone surrogate'
  if (keyword === 'pattern') return `must look like \`${parentSchema?.['x-looks-like'] ?? schema}\``
  if (keyword === 'minimum') return `must be at least ${String(schema)}`
  if (keyword === 'maximum') return `must be at most ${String(schema)}`
  if (keyword === 'minLength') return `must have at least ${String(schema)} characters`
  if (keyword === 'maxLength') return `must have at most ${String(schema)} characters`
  return message
}
