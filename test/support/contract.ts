// Checks a response against openapi.yaml: its status, its headers and its body.
import { expect } from '@jest/globals'
import { Ajv } from 'ajv'
import type { IncomingHttpHeaders } from 'node:http'
import { contract } from '../../src/contract/contract.ts'

type Ref = { $ref?: string }

export interface ResponseObject extends Ref {
  headers?: Record<string, Ref & { required?: boolean; schema: object; example?: string }>
  content?: Record<string, { schema: object; examples?: Record<string, { value: unknown }> }>
}

type Responses = Record<string, ResponseObject>
type PathItem = Record<string, { operationId?: string; responses?: Responses }>

/** The responses of one operation, or of the requests that reach none. */
export interface Documented {
  name: string
  path?: string
  /** In lower case; none for the methods that the path does not have. */
  method?: string
  responses: Responses
}

/**
 * The contract, with schemas that can be compiled alone. They refuse other fields and other codes: a later version of the
 * service may add some to a response, but this one must not.
 */
const document: {
  paths: Record<string, PathItem>
  'x-responses-outside-operations': Responses
} = JSON.parse(JSON.stringify(contract).replaceAll('"#/', '"openapi.yaml#/'), (_, part) => {
  if (part?.['x-extensible-enum']) return { ...part, enum: part['x-extensible-enum'] }
  return part?.properties ? { ...part, additionalProperties: false } : part
})

const { 405: methodNotAllowed, ...others } = document['x-responses-outside-operations']

/** Every response of the contract: by operation, by path, and those to all other requests. */
export const documented: Documented[] = [
  ...Object.entries(document.paths).flatMap(([path, item]) => [
    ...Object.entries(item).flatMap(([method, { operationId: name, responses = {} }]) =>
      name ? [{ name, path, method, responses }] : [],
    ),
    { name: `another method of ${path}`, path, responses: { 405: methodNotAllowed! } },
  ]),
  { name: 'no operation', responses: others },
]

/** What documents a response to this method and path. */
function documentedFor(method: string, path: string, status: number): Documented {
  const pathname = path.replace(/^https?:\/\/[^/?]*/i, '').replace(/\?.*/s, '')
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
  const here = documented.filter((one) => one.path && pattern(one.path).test(pathname))
  const operation = here.find((one) => one.method === verb)
  const other = status === 405 ? here.find((one) => !one.method) : undefined
  return operation ?? other ?? documented.at(-1)!
}

const pattern = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

/** What a reference points to, or the object itself. */
export function resolve<T extends Ref>(object: T): T {
  if (!object.$ref) return object
  const keys = object.$ref.split('#/')[1]!.split('/')
  return keys.reduce((at, key) => (at as Record<string, unknown>)[key], document as unknown) as T
}

interface Actual {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** Fails unless the contract documents this response. @returns what `expectDocumented` returns */
export function expectContract(method: string, path: string, actual: Actual): unknown {
  const found = documentedFor(method, path, actual.status).responses[actual.status]
  if (!found) throw new Error(`${method} ${path}: ${actual.status} is not in the contract`)
  return expectDocumented(found, method, actual)
}

/** Fails unless `found` documents this response. @returns the JSON body, if any; lines as an array */
export function expectDocumented(found: ResponseObject, method: string, actual: Actual): unknown {
  const { headers = {}, content } = resolve(found)
  for (const [name, reference] of Object.entries(headers)) {
    const header = resolve(reference)
    const value = actual.headers[name.toLowerCase()]
    if (value !== undefined || header.required) expectValid(header.schema, value, name)
  }
  const type = actual.headers['content-type']
  if (!content) return expect([type, actual.text]).toEqual([undefined, ''])
  expect(Object.keys(content).map(asSent)).toContain(type)
  if (method === 'HEAD') return expect(actual.text).toBe('')
  if (type !== UTF8_JSON && type !== LINES) return undefined
  const json = type === LINES ? linesIn(actual.text) : JSON.parse(actual.text)
  expectValid(content[JSON_TYPE]!.schema, json, 'body')
  return json
}

const JSON_TYPE = 'application/json'
const UTF8_JSON = `${JSON_TYPE}; charset=utf-8`
const LINES = 'application/x-ndjson'

/** JSON and text are sent with their charset. */
const asSent = (type: string) =>
  type === JSON_TYPE || type.startsWith('text/') ? `${type}; charset=utf-8` : type

function linesIn(text: string): unknown[] {
  const lines = text.split('\n')
  expect(lines.pop()).toBe('')
  return lines.map((line) => JSON.parse(line) as unknown)
}

const ajv = new Ajv({ strict: false, validateFormats: false }).addSchema(document, 'openapi.yaml')

function expectValid(schema: object, value: unknown, name: string): void {
  const isValid = ajv.compile(schema)
  if (!isValid(value)) throw new Error(`${name}: ${ajv.errorsText(isValid.errors)}`)
}
