// Changes to openapi.yaml that break a client, and changes that do not.
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { breakingChanges } from '../../../scripts/build/breaking-changes.ts'
import { read } from '../../support/readme.ts'

type Any = any // eslint-disable-line -- a change can be anywhere

const released = parse(read('openapi.yaml'))
const contract = (): Any => structuredClone(released)

/**
 * The contract with changes. Between keys there are spaces: `a b = 1` sets, `a b += 1` appends, `a b -> c` renames
 * and `a b -` deletes. `;` separates changes; `schemas` is `components schemas`.
 */
function changed(changes: string): Any {
  const document = contract()
  for (const one of changes.split('; ')) {
    const [, path, operator, value] = /^(.*?) (=|\+=|->|-)(?: (.*))?$/.exec(one)!
    const keys = path!.replace(/^schemas/, 'components schemas').split(' ')
    const last = keys.pop()!
    const parent = keys.reduce((node, key) => node[key], document)
    if (operator === '=') parent[last] = parse(value!)
    if (operator === '+=') parent[last].push(parse(value!))
    if (operator === '->') parent[value!] = parent[last]
    if (operator!.startsWith('-')) delete parent[last]
  }
  return document
}

/** The rows of a table: a line each, with `|` between the cells. */
const rowsOf = (table: string) =>
  [...table.matchAll(/\S.*/g)].map(([line]) => line.split(' | ') as [string, string, string])

const BREAKING = `
  an operationId changes | paths /users/{id} get operationId = getUser | /users/{id} get operationId: was "readUser" and is "getUser"
  a path parameter changes its name | paths /users/{id} -> /users/{uid}; components parameters id name = uid | paths /users/{id}: is gone
  a header has another value | components headers WWW-Authenticate schema enum = [Basic] | headers WWW-Authenticate schema enum 0: was "Bearer realm=\"users\"" and is "Basic"
  a field of a body is newly required | schemas UserFields required += id | requestBody content application/json schema required 2: is new
  a body takes no other fields | schemas UserFields additionalProperties = false | schema additionalProperties: is new
  an operation newly needs a token | paths /login post security = [{ bearer: [] }] | /login post security 0: is new
  the server moves | servers 0 url = /v2 | servers 0 url: was "/" and is "/v2"
  an operation goes | paths /users/{id} delete - | /users/{id} delete: is gone
  a new parameter is required | paths /users get parameters += { name: page, in: query, required: true, schema: { type: integer } } | /users get parameters query page: is new
  a field of a response goes | schemas User properties email -; schemas User required = [id, name] | properties email: is gone
  a field of a response may be absent | schemas User required = [id, name] | responses 200 content application/json schema required 2: is gone
  a field of a response may be null | schemas User properties name nullable = true | name nullable: is new
  a response has another media type | paths /users/{id} get responses 200 content application/json -> text/xml | content application/json: is gone
  programs can no longer decide by a code | schemas ErrorMessage properties code x-extensible-enum 0 = x | properties code x-extensible-enum 0: was "body_invalid" and is "x"
  a body takes less of what x-also-accepts says | schemas UserFields x-also-accepts = {} | x-also-accepts required: is gone
  a body allows less | paths /users get parameters 0 schema maximum = 10 | limit schema maximum: was 1000 and is 10
  a schema is renamed | schemas Login -> LogIn; paths /login post requestBody content application/json schema $ref = '#/components/schemas/LogIn' | components schemas Login: is gone
`

test.each(rowsOf(BREAKING))('a client would break when %s', (_, changes, sentence) => {
  const found = breakingChanges(contract(), changed(changes))
  expect(found).toContainEqual(expect.stringContaining(sentence))
})

const HARMLESS = `
  an operation needs no token any more | paths /users/{id} get security = []
  an operation is new | paths /login put = { operationId: x, responses: { '204': { description: x } } }
  a description changes | paths /users get description = x
  a parameter is new and optional | paths /users post parameters = [{ name: q, in: query, schema: { type: string } }]
  a header is new | paths /login post responses 200 headers X = { required: true, schema: { type: string } }
  a code is new | schemas ErrorMessage properties code x-extensible-enum += x
  a field of a response is new and always there | schemas User properties age = { type: integer }; schemas User required += age
  a body allows more | paths /users get parameters 0 schema maximum = 5000; schemas Login properties email minLength = 0
  a body newly has x-also-accepts | schemas Login x-also-accepts = { required: [] }
  a field of a body may be absent | schemas Login required = []
`

test.each(rowsOf(HARMLESS))('no client would break when %s', (_, changes) => {
  expect(breakingChanges(contract(), changed(changes))).toEqual([])
})

test('no client would break when a response may have other fields: clients ignore those that they do not know', () => {
  const strict = changed('schemas User additionalProperties = false')
  expect(breakingChanges(strict, contract())).toEqual([])
})
