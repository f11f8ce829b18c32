// Files that were exported are read again.
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { formatOf } from '../../../../scripts/users/transfer/formats.ts'
import type { User } from '../../../../src/store/user-store.ts'
import { anyText } from '../../../chassis/support/text.ts'
import { read } from '../../../support/transfers.ts'
import { FREE_TEXTS, newUser, user as userOf } from '../../../support/users.ts'

const PARTS = ['"', ',', ';', '\n', '\r', ' ', '\\', '\0', 'a', '@', '\uFEFF', '\t', '{', '\n"a@x,']

test.each(['csv', 'ndjson'])('%s keeps every text exactly', async (format) => {
  const { start, write } = formatOf('-', format)
  const text = fc.oneof(anyText, fc.string({ unit: fc.constantFrom(...PARTS) }))
  const valueOf = ([field, value]: string[]) =>
    FREE_TEXTS.includes(field!) ? text : fc.constant(value)
  const fields = Object.entries(newUser()).map((one) => [one[0], valueOf(one)])
  const id = fc.constantFrom('a'.repeat(24), '0123456789abcdef01234567')
  const user = fc.record({ id, ...Object.fromEntries(fields) }) as fc.Arbitrary<User>
  const property = fc.asyncProperty(
    fc.array(user, { minLength: 1, maxLength: 5 }),
    fc.integer({ min: 1, max: 100 }),
    async (users, size) => {
      const found = await read(format, start + users.map(write).join(''), { size })
      expect(found.map(([, user]) => user)).toEqual(users)
    },
  )
  await fc.assert(property, { numRuns: 200 })
})

test('in an export, the text of a user ends no line of NDJSON', () => {
  const name = '\x85\u2028\u2029'
  const line = formatOf('x.ndjson').write(userOf({ name }))
  expect(line).toContain('"name":"\\u0085\\u2028\\u2029"')
})

test('a format is known by the name of the file', () => {
  expect(formatOf('X.JSONL')).toBe(formatOf('x', 'ndjson'))
  for (const name of ['x.json', 'x.xlsx', 'x.csv.gz', 'x.constructor', 'x'])
    expect(() => formatOf(name)).toThrow(`${name} is neither .csv nor .ndjson. `)
})
