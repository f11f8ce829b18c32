// What Ajv makes of the schemas of requests: formats are checked, and what it would ignore is refused at the start.
import { expect, test } from '@jest/globals'
import { validator } from '../../../src/chassis/contract/validate.ts'

/** Checks a body whose only field has the schema `x`. */
const read = (x: object, value: unknown) => {
  const bodySchema = { type: 'object', properties: { x } }
  return validator({ id: 'addNote', bodySchema })({ x: value })
}

const DAY = '2026-11-28'
const UUID = '0b5e7a52-5a1c-4a7e-9c57-6f1d2e8b3f4a'

test.each([
  ['date-time', `${DAY}T12:00:00Z ${DAY}t23:59:59.123456789+05:30 2024-02-29T00:00:00-00:00`],
  ['date', `${DAY} 2024-02-29`],
  ['uuid', `${UUID} ${UUID.toUpperCase()}`],
  ['email', 'ada@example.com a.b+c@x-y.example'],
  ['uri', 'https://example.com/a?b#c urn:isbn:0451450523'],
  ['binary', '\u00ff'],
  ['uri-reference', '/notes?x#y'],
])('texts of the format %s are kept', (format, texts) => {
  for (const text of texts.split(' '))
    expect(read({ type: 'string', format }, text)).toEqual({ x: text })
})

const NO_TIMES = '|T12:00:00|T24:00:00Z|T12:00Z| 12:00:00Z|\u00a012:00:00Z|T12:00:00Z\n|T23:59:60Z'
const NO_OFFSETS = 'T12:00:00+01|T12:00:00+0100|T12:00:00+24:00'
const noDateTimes = `${NO_TIMES}|${NO_OFFSETS}`.split('|').map((end) => DAY + end)

test.each([
  [
    'date-time',
    [...noDateTimes, '', '2026-02-30T12:00:00Z', '2016-12-31T23:59:60Z'],
    'a date-time such as 2026-11-28T12:00:00Z',
  ],
  ['date', ['2026-02-30', '1900-02-29', '2026-1-1', `${DAY}Z`], 'a date such as 2026-11-28'],
  [
    'uuid',
    ['x', `urn:uuid:${UUID}`, `{${UUID}}`, UUID.replaceAll('-', '')],
    `a UUID such as ${UUID}`,
  ],
  ['email', ['ada', 'ada@', 'a b@x.com', '<a@x.com>'], 'an email address such as ada@example.com'],
  ['uri', ['example.com', '/a', 'https://a b', ''], 'a URI such as https://example.com/notes'],
])('other texts than of the format %s are refused in plain words', (format, texts, form) => {
  for (const text of texts)
    expect(() => read({ type: 'string', format }, text)).toThrow(`field \`x\` must be ${form}`)
})

test('a format has the words of its schema, if there are any', () => {
  const schema = { type: 'string', format: 'date', 'x-message': 'must be a birthday' }
  expect(() => read(schema, 'x')).toThrow('field `x` must be a birthday')
})

test('a text of 1 MB does not take long, whatever its format', () => {
  const parts = ['a', 'a.', 'a@', 'a-', '1', '1:', ' ', '/', 'T', '%aa', '?']
  for (const format of ['date-time', 'date', 'uuid', 'email', 'uri'])
    for (const start of ['', 'a@', 'a://', 'a://[', `${DAY}T12:00:00.`])
      for (const part of parts)
        expect(() =>
          read({ type: 'string', format }, `${start}${part.repeat(1e6 / part.length)}"`),
        ).toThrow('must be')
})

const text = { type: 'string' }
const object = { type: 'object', properties: { a: text } }

test.each([
  ['unknown format "ipv4" ignored', { ...text, format: 'ipv4' }],
  ['unknown keyword: "maxLenght"', { ...text, maxLenght: 1 }],
  ...['allOf', 'anyOf', 'oneOf', 'not'].map(
    (keyword) => [`unknown keyword: "${keyword}"`, { ...object, [keyword]: [object] }] as const,
  ),
  ['unknown keyword: "additionalProperties"', { ...object, additionalProperties: text }],
  ['unknown keyword: "discriminator"', { ...object, discriminator: { propertyName: 'a' } }],
  ['unknown keyword: "readOnly"', { ...text, readOnly: true }],
  ['unknown keyword: "writeOnly"', { ...text, writeOnly: true }],
  ['missing type "number" for keyword "minimum"', { ...text, minimum: 1 }],
  ['missing type "object" for keyword "properties"', { properties: {} }],
  ['exclusiveMinimum value must be ["number"]', { type: 'integer', exclusiveMinimum: true }],
  ['missing type "object" for keyword "required"', { ...text, required: true }],
  ['type must be JSONType or JSONType[]: date', { type: 'date' }],
  ['the default 12 must be <= 9', { type: 'integer', maximum: 9, default: 12 }],
  ['the default "z" must be one of x', { ...text, enum: ['x'], default: 'z' }],
])('at the start, the operation is named: %s', (problem, schema) => {
  expect(() => read(schema, 'x')).toThrow(`addNote: ${problem}`)
})

test('a schema may say more than Ajv reads', () => {
  const described = { title: 'T', description: 'D', example: 'x', deprecated: true, nullable: true }
  const more = {
    externalDocs: { url: '/' },
    xml: { name: 'x' },
    'x-own': 1,
    'x-extensible-enum': [],
  }
  expect(read({ ...text, ...described, ...more }, null)).toEqual({ x: null })
})
