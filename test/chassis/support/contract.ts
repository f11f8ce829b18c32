// Checks responses against a contract: their status, their headers and their body.
import { expect } from '@jest/globals'
import { Ajv } from 'ajv'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { load } from 'js-yaml'
import { resolveContract } from '../../../src/chassis/contract/resolve.ts'

export interface ResponseObject {
  headers?: Record<string, { required?: boolean; schema: object; example?: string }>
  content?: Record<string, { schema: object; examples?: Record<string, { value: unknown }> }>
}

type Responses = Record<string, ResponseObject>
type PathItem = Record<string, { operationId?: string; responses?: Responses }>

/** The responses of one operation. */
export interface Documented {
  name: string
  path: string
  /** In lower case. */
  method: string
  responses: Responses
}

export interface Document {
  info: { description?: string }
  paths: Record<string, PathItem>
}

export const readContract = (url: URL) =>
  resolveContract(load(readFileSync(url, 'utf8')) as Document)

/**
 * A contract whose schemas refuse other fields and other codes, and an error without a code: a later version of the
 * service may add some to a response, but this one must not.
 */
const strict = (document: object): Document =>
  JSON.parse(JSON.stringify(document), (_, part) => {
    if (part?.['x-extensible-enum']) return { ...part, enum: part['x-extensible-enum'] }
    if (!part?.properties) return part
    return { ...part, additionalProperties: false, required: Object.keys(part.properties) }
  })

const pattern = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

interface Actual {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** Fails unless the contract documents this response. @returns what `expectDocumented` returns */
export type Expect = (method: string, path: string, actual: Actual) => unknown

/** What a contract documents, and what checks a response against it. */
export function checked(contract: object) {
  const document = strict(contract)
  /** The status of each code, as `info` lists them. */
  const statusOfCode = new Map(
    [...(document.info.description ?? '').matchAll(/^- `(\w+)` \((\d+)\)/gm)].map(
      ([, code, status]) => [code!, Number(status)],
    ),
  )
  const documented: Documented[] = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { operationId: name, responses = {} }]) =>
      name ? [{ name, path, method, responses }] : [],
    ),
  )

  /** What documents a response to this method and path: without an operation, `default` documents all errors. */
  function documentedFor(method: string, path: string, status: number): ResponseObject | undefined {
    const pathname = path.replace(/^https?:\/\/[^/?]*/i, '').replace(/\?.*/s, '')
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase()
    const here = documented.filter((operation) => pattern(operation.path).test(pathname))
    const operation = here.find((operation) => operation.method === verb)
    return operation ? operation.responses[status] : documented[0]!.responses['default']
  }

  const expectContract: Expect = (method, path, actual) => {
    const found = documentedFor(method, path, actual.status)
    if (!found) throw new Error(`${method} ${path}: ${actual.status} is not in the contract`)
    expect(actual.headers['x-request-id']).toMatch(/^[\w.:/+=-]{1,128}$/)
    const json = expectDocumented(found, method, actual)
    const { code } = Object(json)
    if (code !== undefined) expect([code, actual.status]).toEqual([code, statusOfCode.get(code)])
    return json
  }
  return { documented, statusOfCode, expectContract }
}

/** Fails unless `found` documents this response. @returns the JSON body, if any; lines as an array */
export function expectDocumented(found: ResponseObject, method: string, actual: Actual): unknown {
  const { headers = {}, content } = found
  for (const [name, header] of Object.entries(headers)) {
    const value = actual.headers[name.toLowerCase()]
    if (value !== undefined || header.required) expectValid(header.schema, value, name)
  }
  const type = actual.headers['content-type']
  if (!content) return expect([type, actual.text]).toEqual([undefined, ''])
  expect(Object.keys(content).map(asSent)).toContain(type)
  if (method === 'HEAD') return expect(actual.text).toBe('')
  if (type !== UTF8_JSON && type !== UTF8_LINES) return undefined
  const json = type === UTF8_LINES ? linesIn(actual.text) : JSON.parse(actual.text)
  expectValid(content[JSON_TYPE]!.schema, json, 'body')
  return json
}

const JSON_TYPE = 'application/json'
const UTF8_JSON = `${JSON_TYPE}; charset=utf-8`
const LINES = 'application/x-ndjson'
const UTF8_LINES = `${LINES}; charset=utf-8`

/** JSON and text are sent with their charset. */
const asSent = (type: string) =>
  type === JSON_TYPE || type === LINES || type.startsWith('text/') ? `${type}; charset=utf-8` : type

function linesIn(text: string): unknown[] {
  const lines = text.split('\n')
  expect(lines.pop()).toBe('')
  return lines.map((line) => JSON.parse(line) as unknown)
}

const ajv = new Ajv({ strict: false, validateFormats: false })

function expectValid(schema: object, value: unknown, name: string): void {
  const isValid = ajv.compile(schema)
  if (!isValid(value)) throw new Error(`${name}: ${ajv.errorsText(isValid.errors)}`)
}
