// Holds an answer against openapi.yaml: its status, its headers and its body.
import { expect } from '@jest/globals'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { IncomingHttpHeaders } from 'node:http'
import { contract } from '../../src/contract/document.ts'
import { documentedBy, find, record, resolve, type Contract } from './coverage.ts'

const document = contract as unknown as Contract
const documented = documentedBy(document)

const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(
  contract,
  'openapi.yaml',
)

/** Fails unless the contract documents this answer. @returns the JSON body, if there is one; of lines, an array */
export function expectContract(
  method: string,
  path: string,
  answer: { status: number; headers: IncomingHttpHeaders; text: string },
): unknown {
  const place = find(documented, method, path, answer.status)
  const type = answer.headers['content-type']
  const json = answer.text ? jsonIn(answer.text, type) : undefined
  if (method !== 'HEAD') record(place, answer.status, json)
  const found = place.responses[answer.status]
  if (!found) throw new Error(`${method} ${path}: ${answer.status} is not in the contract`)
  const response = resolve(document, found)
  for (const [name, reference] of Object.entries(response.headers ?? {})) {
    const header = resolve(document, reference)
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
  if (type !== LINES || !response.content[LINES]) expect(type).toBe(JSON_TYPE)
  if (method === 'HEAD') return expect(answer.text).toBe('')
  const list = type === LINES && !answer.text ? [] : json
  expectValid(response.content['application/json']!.schema, list, 'body')
  return list
}

const JSON_TYPE = 'application/json; charset=utf-8'
const LINES = 'application/x-ndjson'

function jsonIn(text: string, type?: string): unknown {
  if (type === JSON_TYPE) return JSON.parse(text)
  if (type !== LINES) return undefined
  expect(text.endsWith('\n')).toBe(true)
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
}

const compiled = new Map<object, ValidateFunction>()

function expectValid(schema: object, value: unknown, name: string): void {
  const valid = compiled.get(schema) ?? ajv.compile(absolute(schema))
  compiled.set(schema, valid)
  if (!valid(value)) throw new Error(`${name}: ${ajv.errorsText(valid.errors)}`)
}

const absolute = (schema: object) =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.yaml#/')) as object
