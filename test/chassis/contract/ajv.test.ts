// What Ajv makes of the schemas of requests: formats are checked, and what it would ignore is refused at the start.
import { expect, test } from '@jest/globals'
import { validator } from '../../../src/chassis/contract/validate.ts'

/** Checks a body whose only field has the schema `x`. */
const read = (x: object, value: unknown) => {
  const bodySchema = { type: 'object', properties: { x } }
  return validator({ id: 'addNote', bodySchema })({ x: value })
}

const UUID = '0b5e7a52-5a1c-4a7e-9c57-6f1d2e8b3f4a'

test.each([
  [
    'date-time',
    '2026-11-28T23:59:59.123456789+05:30',
    '2026-02-30T12:00:00Z',
    'a date-time such as 2026-11-28T12:00:00Z',
  ],
  ['date', '2024-02-29', '2026-02-29', 'a date such as 2026-11-28'],
  ['uuid', UUID, `{${UUID}}`, `a UUID such as ${UUID}`],
  ['email', 'a.b+c@x-y.example', 'ada@', 'an email address such as ada@example.com'],
  ['uri', 'urn:isbn:0451450523', '/a', 'a URI such as https://example.com/notes'],
])(
  'a text of the format %s is kept, and another one refused in plain words',
  (format, right, wrong, form) => {
    const schema = { type: 'string', format }
    expect(read(schema, right)).toEqual({ x: right })
    expect(() => read(schema, wrong)).toThrow(`field \`x\` must be ${form}`)
  },
)

test('a format has the words of its schema, if there are any', () => {
  const schema = { type: 'string', format: 'date', 'x-message': 'must be a birthday' }
  expect(() => read(schema, 'x')).toThrow('field `x` must be a birthday')
})

const text = { type: 'string' }
const REMOVED = ['allOf', 'anyOf', 'oneOf', 'not', 'additionalProperties', 'readOnly', 'writeOnly']

test.each([
  ['unknown format "ipv4" ignored', { ...text, format: 'ipv4' }],
  ['unknown keyword: "maxLenght"', { ...text, maxLenght: 1 }],
  ...REMOVED.map(
    (keyword) => [`unknown keyword: "${keyword}"`, { ...text, [keyword]: [] }] as const,
  ),
  ['missing type "number" for keyword "minimum"', { ...text, minimum: 1 }],
  ['exclusiveMinimum value must be ["number"]', { type: 'integer', exclusiveMinimum: true }],
  ['type must be JSONType or JSONType[]: date', { type: 'date' }],
])('at the start, the operation is named: %s', (problem, schema) => {
  expect(() => read(schema, 'x')).toThrow(`addNote: ${problem}`)
})

test('a schema may say more than Ajv reads', () => {
  const annotations = { title: 'T', description: 'D', example: 'x', externalDocs: {}, xml: {} }
  const schema = { ...text, ...annotations, format: 'binary', nullable: true, 'x-own': 1 }
  expect(read(schema, null)).toEqual({ x: null })
})
