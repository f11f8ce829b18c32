// Holds an answer against openapi.yaml: its status, its headers and its body.
import { expect } from '@jest/globals'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { IncomingHttpHeaders } from 'node:http'
import { contract } from '../../src/contract/contract.ts'

interface Ref {
  $ref?: string
}
interface ResponseObject extends Ref {
  headers?: Record<string, Ref & { required?: boolean; schema: object }>
  content?: Record<string, { schema: object }>
}
type Responses = Record<string, ResponseObject>

const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(
  contract,
  'openapi.yaml',
)

/** Fails unless the contract documents this answer. @returns the JSON body, if there is one */
export function expectContract(
  method: string,
  path: string,
  answer: { status: number; headers: IncomingHttpHeaders; text: string },
): unknown {
  const documented = responsesOf(method, path)[answer.status]
  if (!documented) throw new Error(`${method} ${path}: ${answer.status} is not in the contract`)
  const response = resolve(documented)
  for (const [name, reference] of Object.entries(response.headers ?? {})) {
    const header = resolve(reference)
    const value = answer.headers[name.toLowerCase()]
    if (value !== undefined || header.required) expectValid(header.schema, value, name)
  }
  if (!response.content) {
    expect(answer).toMatchObject({
      text: '',
      headers: expect.not.objectContaining({ 'content-type': expect.anything() }),
    })
    return undefined
  }
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  if (method === 'HEAD') return expect(answer.text).toBe('')
  const json = JSON.parse(answer.text) as unknown
  expectValid(response.content['application/json']!.schema, json, 'body')
  return json
}

/** The responses of the operation that answers, or those of requests that reach none. */
function responsesOf(method: string, path: string): Responses {
  const pathname = path.replace(/^https?:\/\/[^/?]*/i, '').replace(/\?.*/s, '')
  const template = Object.keys(contract.paths).find((candidate) =>
    new RegExp(`^${candidate.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  )
  const item = template ? contract.paths[template] : undefined
  const verb = (method === 'HEAD' ? 'GET' : method).toLowerCase() as 'get'
  const operation = item?.[verb] as unknown as { responses: Responses } | undefined
  const outside = contract as unknown as { 'x-responses-outside-operations': Responses }
  return operation?.responses ?? outside['x-responses-outside-operations']
}

const compiled = new Map<object, ValidateFunction>()

function expectValid(schema: object, value: unknown, name: string): void {
  const valid = compiled.get(schema) ?? ajv.compile(absolute(schema))
  compiled.set(schema, valid)
  if (!valid(value)) throw new Error(`${name}: ${ajv.errorsText(valid.errors)}`)
}

const absolute = (schema: object) =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.yaml#/')) as object

function resolve<T extends Ref>(object: T): T {
  if (!object.$ref) return object
  const keys = object.$ref.slice(2).split('/')
  return keys.reduce((at, key) => (at as Record<string, unknown>)[key], contract as unknown) as T
}
