// Changes to a contract that break a client, and changes that do not.
import { expect, test } from '@jest/globals'
import { load } from 'js-yaml'
import { breakingChanges, withoutDocumentation } from '../../../scripts/build/breaking-changes.ts'
import { notesContract } from '../../chassis/support/notes.ts'

type Any = any // eslint-disable-line -- a change can be anywhere

const contract = (): Any => structuredClone(notesContract.contents().document)
const released = withoutDocumentation(contract())

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
    if (operator === '=') parent[last] = load(value!)
    if (operator === '+=') parent[last].push(load(value!))
    if (operator === '->') parent[value!] = parent[last]
    if (operator!.startsWith('-')) delete parent[last]
  }
  return document
}

/** The rows of a table: a line each, with `|` between the cells. */
const rowsOf = (table: string) =>
  [...table.matchAll(/\S.*/g)].map(([line]) => line.split(' | ') as [string, string, string])

const BREAKING = `
  an operationId changes | paths /notes/{id} get operationId = getNote | /notes/{id} get operationId: was "readNote" and is "getNote"
  a path parameter changes its name | paths /notes/{id} -> /notes/{key}; components parameters id name = key | paths /notes/{id}: is gone
  a field of a body is newly required | schemas NewNote required += tag | requestBody content application/json schema required 1: is new
  a body takes no other fields | schemas NewNote additionalProperties = false | schema additionalProperties: is new
  an operation newly needs a token | paths /notes post security = [{ bearer: [] }] | /notes post security 0: is new
  an operation goes | paths /notes/{id} get - | /notes/{id} get: is gone
  a new parameter is required | paths /notes get parameters += { name: page, in: query, required: true, schema: { type: integer } } | /notes get parameters query page: is new
  a field of a response goes | schemas Note properties tag -; schemas Note required = [text] | properties tag: is gone
  a field of a response may be absent | schemas Note required = [text] | responses 200 content application/json schema items required 1: is gone
  a field of a response may be null | schemas Note properties text nullable = true | text nullable: is new
  programs can no longer decide by a code | schemas Error properties code x-extensible-enum 0 = x | properties code x-extensible-enum 0: was "body_invalid" and is "x"
  a body takes less of what x-also-accepts says | schemas Change x-also-accepts = {} | x-also-accepts required: is gone
  a schema takes less than x-also-accepts said | schemas Change properties tag = { type: [string, number] } | tag x-also-accepts: is gone
  a body allows less | paths /notes get parameters 0 schema maximum = 10 | limit schema maximum: was 1000 and is 10
  a schema is renamed | schemas Change -> Changes; paths /notes/{id} patch requestBody content application/json schema $ref = '#/components/schemas/Changes' | components schemas Change: is gone
`

test.each(rowsOf(BREAKING))('a client would break when %s', (_, changes, sentence) => {
  const found = breakingChanges(released, changed(changes))
  expect(found).toContainEqual(expect.stringContaining(sentence))
})

const HARMLESS = `
  an operation needs no token any more | paths /notes/{id} get security = []
  an operation is new | paths /notes put = { operationId: x, responses: { '204': { description: x } } }
  a description changes | paths /notes get description = x
  a parameter is new and optional | paths /notes post parameters = [{ name: q, in: query, schema: { type: string } }]
  a header is new | components responses Note headers X = { required: true, schema: { type: string } }
  a code is new | schemas Error properties code x-extensible-enum += x
  a field of a response is new and always there | schemas Note properties age = { type: integer }; schemas Note required += age
  a body allows more | paths /notes get parameters 0 schema maximum = 5000; schemas NewNote properties text minLength = 0
  a body newly has x-also-accepts | schemas NewNote x-also-accepts = { required: [] }
  a field of a body may be absent | schemas NewNote required = []
  a schema itself says what was also accepted | schemas Change properties tag = { type: [string, number, boolean, 'null'] }
`

test.each(rowsOf(HARMLESS))('no client would break when %s', (_, changes) => {
  expect(breakingChanges(released, changed(changes))).toEqual([])
})

test('no client would break when a response may have other fields: clients ignore those that they do not know', () => {
  const strict = changed('schemas Note additionalProperties = false')
  expect(breakingChanges(strict, contract())).toEqual([])
})
