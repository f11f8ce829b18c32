// Newline-delimited JSON.
import { expect, test } from '@jest/globals'
import type { Line } from '../../../../scripts/users/transfer/lines.ts'
import { readNdjson } from '../../../../scripts/users/transfer/ndjson.ts'
import { read, readAnyhow } from '../../../support/transfers.ts'

const user = (line: number, name: string): Line => ({ line, fields: { name } })

test.each<[string, string, Line[]]>([
  ['an object on each line', '{"name":"a"}\n{"name":"b"}\r\n', [user(1, 'a'), user(2, 'b')]],
  ['a line without its end', '{"name":"a"}', [user(1, 'a')]],
  ['empty lines', '\n{"name":"a"}\n\n', [user(2, 'a')]],
])('a file may have %s', async (_, file, lines) => {
  expect(await readAnyhow(readNdjson, file)).toEqual(lines)
})

test.each([
  ['{"name":"b"', 'it is not valid JSON'],
  ['["b"]', 'it is not a JSON object'],
  ['null', 'it is not a JSON object'],
])('the line %s is refused, and no other', async (line, reason) => {
  const lines = await readAnyhow(readNdjson, `{"name":"a"}\n${line}\n{"name":"c"}\n`)
  expect(lines).toEqual([user(1, 'a'), { line: 2, reason }, user(3, 'c')])
})

test('a line that is too long is refused, and the next is read', async () => {
  const file = Buffer.from(`\n${'{,'.repeat(5_000_000)}\n{"name":"a"}\n`)
  for (const size of [65_536, file.length - 5]) {
    const refused = { line: 2, reason: 'it is longer than 8,500,000 characters' }
    expect(await read(readNdjson, file, size)).toEqual([refused, user(3, 'a')])
  }
})

test.each(['[]', '"x":1', '{}'])(
  'an object with too many values, as %s, is refused',
  async (value) => {
    const values = `${value},`.repeat(1_200_000 / value.length)
    const object = value.startsWith('"') ? `{${values}"y":1}` : `{"x":[${values}1]}`
    const lines = await read(readNdjson, `${object}\n{"name":"a"}\n`)
    expect(lines).toEqual([{ line: 1, reason: 'it has more than 16,384 fields' }, user(2, 'a')])
  },
)

test.each(['[{"name":"a"}]', '\n [\n{"name":"a"}\n]\n'])('%j is not lines', async (file) => {
  const message = 'the file begins as a JSON array: give --format json'
  for (const size of [1, Infinity]) {
    await expect(read(readNdjson, file, size)).rejects.toThrow(message)
  }
})
