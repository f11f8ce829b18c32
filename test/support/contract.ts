// Holds an answer against openapi.yaml: its status, its headers and its body.
import { expect } from '@jest/globals'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { IncomingHttpHeaders } from 'node:http'
import { contract } from '../../src/contract/contract.ts'
import { documentedBy, find, record, type Contract, type Ref } from './coverage.ts'

const documented = documentedBy(contract as unknown as Contract)

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
  const place = find(documented, method, path, answer.status)
  if (method !== 'HEAD') record(place, answer.status)
  const found = place.responses[answer.status]
  if (!found) throw new Error(`${method} ${path}: ${answer.status} is not in the contract`)
  const response = resolve(found)
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

const compiled = new Map<object, ValidateFunction>()

function expectValid(schema: object, value: unknown, name: string): void {
  const valid = compiled.get(schema) ?? ajv.compile(absolute(schema))
  compiled.set(schema, valid)
  if (!valid(value)) throw new Error(`${name}: ${ajv.errorsText(valid.errors)}`)
}

const absolute = (schema: object) =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.yaml#/')) as object

export function resolve<T extends Ref>(object: T): T {
  if (!object.$ref) return object
  const keys = object.$ref.slice(2).split('/')
  return keys.reduce((at, key) => (at as Record<string, unknown>)[key], contract as unknown) as T
}
