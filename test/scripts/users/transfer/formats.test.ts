// Files that were exported are read again.
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { formatOf, serialize } from '../../../../scripts/users/transfer/formats.ts'
import type { User } from '../../../../src/store/user-store.ts'
import { anyText } from '../../../support/text.ts'
import { read } from '../../../support/transfers.ts'
import { newUser } from '../../../support/users.ts'

async function* inPages(users: User[], size: number): AsyncGenerator<User[]> {
  for (let at = 0; at < users.length; at += size) yield users.slice(at, at + size)
}

async function exported(name: string, users: User[], size: number): Promise<string> {
  let text = ''
  for await (const part of serialize(formatOf(name), inPages(users, size))) text += part
  return text
}

test.each(['x.csv', 'x.ndjson', 'x.json'])('%s keeps every text exactly', async (name) => {
  const text = fc.oneof(
    anyText,
    fc.string({ unit: fc.constantFrom('"', ',', ';', '\n', '\r', ' ', '\\', '\0', 'a', '\uFEFF') }),
  )
  const fields = Object.keys(newUser()).map((field) => [field, text])
  const user = fc.record({
    id: fc.constant('a'.repeat(24)),
    ...Object.fromEntries(fields),
  }) as fc.Arbitrary<User>
  const users = fc.array(user, { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(users, fc.integer({ min: 1, max: 100 }), async (users, size) => {
      const lines = await read(formatOf(name).read, await exported(name, users, size), size)
      expect(lines.map((line) => 'fields' in line && line.fields)).toEqual(users)
    }),
    { numRuns: 50 },
  )
})

test('a format is known by the name of the file', () => {
  expect(formatOf('X.JSONL.gz')).toBe(formatOf('x', 'ndjson'))
  expect(() => formatOf('x.constructor')).toThrow('--format is needed for x.constructor: csv')
})

const ADVICE = 'use CSV (UTF-8), which spreadsheet programs save and open'

const SPREADSHEETS = ['people.xlsx', 'people.XLS', 'people.ods', ' xlsx']
test.each(SPREADSHEETS)('a spreadsheet gets the advice to save it as CSV: %s', (given) => {
  const [file = '', asked] = given.split(' ')
  expect(() => formatOf(file, asked)).toThrow(`cannot be read or written: ${ADVICE}`)
})
