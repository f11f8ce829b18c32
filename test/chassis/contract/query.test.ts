// The query of GET /notes, without a server: what is accepted, and what is refused by its name.
import { expect, test } from '@jest/globals'
import { headerReader } from '../../../src/chassis/contract/header.ts'
import { queryReader } from '../../../src/chassis/contract/query.ts'
import { notesContract } from '../support/notes.ts'

const read = queryReader(notesContract.operationOf('listNotes'))
const ID = '665f1c2e8b3f4a0012d4c001'

test.each([
  ['', {}],
  ['limit=1&', { limit: 1 }],
  ['limit=1000', { limit: 1000 }],
  [`after=${ID}&limit=2`, { after: ID, limit: 2 }],
  ['text', { text: '' }],
  ['text=a+b', { text: 'a b' }],
  ['text=a%2Bb', { text: 'a+b' }],
  ['text=ada%20x@example.com', { text: 'ada x@example.com' }],
])('the query "%s" is accepted', (query, values) => expect(read(query)).toEqual(values))

test('a text with an @ and a plus that a person has not encoded is refused with what to write', () => {
  const message = 'query parameter `text` must have `%2B` for a plus, or `%20` for a space'
  expect(() => read('text=ada+x@example.com')).toThrow(message)
})

const of = (name: string, ...values: string[]) => values.map((value) => [`${name}=${value}`, name])

test.each([
  // unknown
  ['page=2', 'page'],
  ['text[$ne]=x', 'text[$ne]'],
  ['__proto__=1', '__proto__'],
  ['=1', ''],
  ['%zz=1', '%zz'],
  // repeated
  ['limit=1&%6Cimit=2', 'limit'],
  // malformed
  ['limit', 'limit'],
  ...of('limit', '', '0', '-1', '1001', '1.5', '1.0', '1e2', '01', '0x1', '+1', '%201', '1%20'),
  ...of('after', '', 'x', ID.slice(1), `${ID}0`, ID.toUpperCase(), `${ID}%0A`, `%20${ID}`),
  ...of('text', '%', '%f', '%zz', '%ff', '%c3%28', '%ed%a0%80', '%C0%80', '%f4%90%80%80'),
])('the query "%s" is refused with the name of the wrong parameter', (query = '', name = '') => {
  const message = expect.stringContaining(`query parameter \`${name}\` `)
  expect(() => read(query)).toThrow(expect.objectContaining({ status: 400, message }))
})

test('a query is refused in the words of Ajv, with a code', () => {
  const message = 'query parameter `limit` must be <= 1000'
  const error = { code: 'query_invalid', message }
  expect(() => read('limit=1001')).toThrow(expect.objectContaining(error))
})

test('an operation without query parameters ignores its query', () => {
  const ignore = queryReader(notesContract.operationOf('addNote'))
  expect(ignore('limit=x&$where=1&%zz')).toEqual({})
})

test.each([
  ['query', queryReader, 'constructor=x', ''],
  ['header', headerReader, { constructor: 'x' }, {}],
])('a %s may have a name that each object in JavaScript has', (place, reader, sent, empty) => {
  const parameters = [{ name: 'constructor', in: place, schema: { type: 'string' } }]
  const readOne = reader({ parameters } as never) as (from: unknown) => Record<string, unknown>
  expect(readOne(sent)).toEqual({ constructor: 'x' })
  expect(readOne(empty)['constructor']).toBeUndefined()
})
