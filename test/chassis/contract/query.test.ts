// The query of GET /notes, without a server: what is accepted, and what is refused by its name.
import { expect, test } from '@jest/globals'
import { headerReader } from '../../../src/chassis/contract/header.ts'
import type { Parameter } from '../../../src/chassis/contract/operation.ts'
import { queryReader } from '../../../src/chassis/contract/query.ts'

const query = (name: string, schema: object, others = {}) =>
  ({ name, in: 'query', schema, ...others }) as Parameter
const list = (items: object, others = {}) => ({ type: 'array', items, ...others })
const text = { type: 'string' }
const number = { type: 'integer', minimum: 0, maximum: 1000 }
const read = queryReader({
  id: 'search',
  parameters: [
    query('q', text, { required: true }),
    query('id', { ...text, pattern: '^[0-9a-f]{4}$' }),
    query('done', { type: 'boolean' }),
    query('page', { ...number, default: 1 }),
    query('tag', list(text, { minItems: 2 })),
    query('size', list(number)),
    query('kind', list({ ...text, enum: ['x', 'y'], 'x-message': 'must be kind' })),
    query('flag', list({ type: 'boolean' }, { default: [true] })),
    query('since', { ...text, format: 'date-time' }),
  ],
})
const filled = { q: 'x', page: 1, flag: [true] }

test.each([
  ['q=x&', filled],
  ['q', { ...filled, q: '' }],
  ['q=a+b', { ...filled, q: 'a b' }],
  ['q=a%2Bb', { ...filled, q: 'a+b' }],
  ['q=ada%20x@example.com', { ...filled, q: 'ada x@example.com' }],
  ['q=x&id=0a1f&page=1000', { ...filled, id: '0a1f', page: 1000 }],
  ['q=x&tag=a&done=true&%74ag=b%2Cc', { ...filled, done: true, tag: ['a', 'b,c'] }],
  ['q=x&tag=&tag=__proto__', { ...filled, tag: ['', '__proto__'] }],
  ['q=x&size=7', { ...filled, size: [7] }],
  ['q=x&flag=false&flag=true', { ...filled, flag: [false, true] }],
  ['q=x&since=2026-11-28T12:00:00%2B01:00', { ...filled, since: '2026-11-28T12:00:00+01:00' }],
])('the query "%s" is accepted', (query, values) => expect(read(query)).toEqual(values))

const PLUS = 'must have `%2B` for a plus, or `%20` for a space'
const UNKNOWN = 'is unknown'
const REPEATED = 'appears more than once'
const UNDECODED = 'must be percent-encoded UTF-8'
const of = (name: string, problem: string, values: string): [string, string, string][] =>
  values.split(' ').map((value) => [`q=x&${name}=${value}`, name, problem])

test.each([
  ['done=true', 'q', 'is required'],
  ['q=ada+x@example.com', 'q', PLUS],
  ['q=x&since=2026-11-28T12:00:00+01:00', 'since', PLUS],
  ...['page[$ne]', 'tag[]', '__proto__', '', '%zz'].flatMap((name) => of(name, UNKNOWN, '1')),
  ['q=x&page=1&%70age=2', 'page', REPEATED],
  ...of('page', 'must be integer', ' -a 1.5 1.0 1e2 01 0x1 +1 %201 1%20 9007199254740992'),
  ...of('page', 'must be >= 0', '-1'),
  ...of('page', 'must be <= 1000', '1001'),
  ...of('id', 'must match pattern "^[0-9a-f]{4}$"', ' x 0a1 0a1f0 0A1F 0a1f%0A %200a1f'),
  ...of('id', UNDECODED, '% %f %zz %ff %c3%28 %ed%a0%80 %C0%80 %f4%90%80%80'),
  ...of('done', 'must be boolean', ' 1 True'),
  ...of('tag', 'must NOT have fewer than 2 items', 'a'),
  ...of('tag', UNDECODED, 'a&tag=%ff'),
  ...of('size', 'must be integer', '1&size='),
  ...of('kind', 'must be one of x, y', 'x&kind=z'),
  ...of('flag', 'must be boolean', 'yes'),
  ...of('since', 'must be a date-time such as 2026-11-28T12:00:00Z', '2026'),
])('the query "%s" is refused: %s %s', (query, name, problem) => {
  const message = `query parameter \`${name}\` ${problem}`
  const error = { status: 400, code: 'query_invalid', message }
  expect(() => read(query)).toThrow(expect.objectContaining(error))
})

test('a default is not shared by requests', () => {
  ;(read('q=x')['flag'] as unknown[]).push(false)
  expect(read('q=x')).toEqual(filled)
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
