// The query of GET /notes, without a server: what is accepted, and what is refused by its name.
import { expect, test } from '@jest/globals'
import { headerReader } from '../../../src/chassis/contract/header.ts'
import type { Parameter } from '../../../src/chassis/contract/operation.ts'
import { queryReader } from '../../../src/chassis/contract/query.ts'
import { notesContract } from '../support/notes.ts'

const read = queryReader(notesContract.operationOf('listNotes'))
const PLUS = 'must have `%2B` for a plus, or `%20` for a space'
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
  expect(() => read('text=ada+x@example.com')).toThrow(`query parameter \`text\` ${PLUS}`)
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

const query = (name: string, schema: object, others = {}) =>
  ({ name, in: 'query', schema, ...others }) as Parameter
const list = (items: object, others = {}) => ({ type: 'array', items, ...others })
const text = { type: 'string' }
const number = { type: 'integer', minimum: 0, maximum: 9 }
const search = queryReader({
  id: 'search',
  parameters: [
    query('q', text, { required: true }),
    query('done', { type: 'boolean' }),
    query('page', { ...number, default: 1 }),
    query('tag', list(text, { minItems: 2, uniqueItems: true })),
    query('a/b~', list(number)),
    query('kind', list({ ...text, enum: ['x', 'y'], 'x-message': 'must be kind' })),
    query('flag', list({ type: 'boolean' }, { default: [true] })),
    query('since', { ...text, format: 'date-time' }),
  ],
})
const filled = { q: 'x', page: 1, flag: [true] }

test.each([
  ['q=x', filled],
  ['q=x&done=true&page=2', { ...filled, done: true, page: 2 }],
  ['done=false&q=x', { ...filled, done: false }],
  ['q=x&tag=a&done=true&%74ag=b%2Cc', { ...filled, done: true, tag: ['a', 'b,c'] }],
  ['q=x&tag=&tag=__proto__', { ...filled, tag: ['', '__proto__'] }],
  ['q=x&a%2Fb~=7', { ...filled, 'a/b~': [7] }],
  ['q=x&flag=false&flag=true', { ...filled, flag: [false, true] }],
  ['q=x&since=2026-11-28T12:00:00%2B01:00', { ...filled, since: '2026-11-28T12:00:00+01:00' }],
])('the query "%s" has booleans, lists and defaults', (text, values) => {
  expect(search(text)).toEqual(values)
})

test.each([
  ['done=true', 'q', 'is required'],
  ['q=x&done=1', 'done', 'must be boolean'],
  ['q=x&done=', 'done', 'must be boolean'],
  ['q=x&done=True', 'done', 'must be boolean'],
  ['q=x&done=true&done=true', 'done', 'appears more than once'],
  ['q=x&tag=a', 'tag', 'must NOT have fewer than 2 items'],
  ['q=x&tag=a&tag=a', 'tag', 'must NOT have duplicate items (items ## 1 and 0 are identical)'],
  ['q=x&tag=a&tag=%ff', 'tag', 'must be percent-encoded UTF-8'],
  ['q=x&tag[]=a', 'tag[]', 'is unknown'],
  ['q=x&a%2Fb~=1&a%2Fb~=', 'a/b~', 'must be integer'],
  ['q=x&a%2Fb~=99999999999999999999', 'a/b~', 'must be <= 9'],
  ['q=x&kind=x&kind=z', 'kind', 'must be one of x, y'],
  ['q=x&flag=yes', 'flag', 'must be boolean'],
  ['q=x&since=2026', 'since', 'must be a date-time such as 2026-11-28T12:00:00Z'],
  ['q=x&since=2026-11-28T12:00:00+01:00', 'since', PLUS],
])('the query "%s" is refused: %s %s', (text, name, problem) => {
  const message = `query parameter \`${name}\` ${problem}`
  expect(() => search(text)).toThrow(expect.objectContaining({ status: 400, message }))
})

test('a default is not shared by requests', () => {
  ;(search('q=x')['flag'] as unknown[]).push(false)
  expect(search('q=x')).toEqual(filled)
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
