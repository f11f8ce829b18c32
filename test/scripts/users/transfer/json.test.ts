// JSON arrays.
import { expect, test } from '@jest/globals'
import { readJson } from '../../../../scripts/users/transfer/json.ts'
import type { Line } from '../../../../scripts/users/transfer/lines.ts'
import { read, readAnyhow } from '../../../support/transfers.ts'

const user = (line: number, element: number, name: string, more = {}): Line => {
  return { line, element, fields: { name, ...more } }
}

test.each<[string, string, ...Line[]]>([
  ['one line', '[{"name":"a"},{"name":"b"}]', user(1, 1, 'a'), user(1, 2, 'b')],
  ['many lines', '[\n {\n"name": "a" },\n\n{"name":"b"}\n]\n', user(2, 1, 'a'), user(5, 2, 'b')],
  ['CRLF', '[\r\n{"name":"a"},\r\n{"name":"b"}\r\n]\r\n', user(2, 1, 'a'), user(3, 2, 'b')],
  ['no element', ' [ ] '],
  ['brackets', '[{"name":"]}\\"\\\\"},{"name":"b"}]', user(1, 1, ']}"\\'), user(1, 2, 'b')],
  ['other fields', '[{"name":"x","a":[{"b":[]}]}]', user(1, 1, 'x', { a: [{ b: [] }] })],
])('an array may have %s', async (_, file, ...lines) => {
  expect(await readAnyhow(readJson, file)).toEqual(lines)
})

test.each(['7', '"b"', '["b"]', 'null'])('the element %s alone is refused', async (element) => {
  const lines = await readAnyhow(readJson, `[{"name":"a"},\n${element},\n{"name":"c"}\n]`)
  const refused = { line: 2, element: 2, reason: 'it is not a JSON object' }
  expect(lines).toEqual([user(1, 1, 'a'), refused, user(3, 3, 'c')])
})

const INVALID = 'line 2, element 2: it is not valid JSON'
const NO_END = 'the JSON array does not end: see line 2, element 2'

test.each([
  ['{"name":b}', INVALID],
  ['{"name":"b"]', INVALID],
  ['{"name":"b"}}', INVALID],
  ['{"name":"b}', INVALID],
  ['{"name":"b","x":', NO_END],
  ['{"name":"b","x":[}', NO_END],
  ['{"name":"b"}]', 'line 2: there is text after the JSON array'],
])('the broken element %s ends the file: %s', async (element, message) => {
  for (const size of [1, Infinity]) {
    const found: Line[] = []
    const file = `[{"name":"a"},\n${element},\n{"name":"c"}\n]`
    await expect(read(readJson, file, size, undefined, found)).rejects.toThrow(message)
    expect(found[0]).toEqual(user(1, 1, 'a'))
    expect(found.some((line) => line.line > 2)).toBe(false)
  }
})

test('an element that is too long is refused, and the next is read', async () => {
  const long = `{"name":"${'x'.repeat(9_000_000)}"}`
  for (const size of [65_536, 9_000_050]) {
    const lines = await read(readJson, `[{"name":"a"},${long} , {"name":"c"}]`, size)
    const reason = 'it is longer than 8,500,000 characters'
    expect(lines).toEqual([user(1, 1, 'a'), { line: 1, element: 2, reason }, user(1, 3, 'c')])
  }
})

test('broken JSON is read in linear time', async () => {
  const began = process.cpuUsage().user
  for (const part of ['{', '{"a":', '{"a"},{', '\\"']) {
    const file = `[\n{"name":"b${part.repeat(1_000_000 / part.length)}`
    await expect(read(readJson, file, 65_536)).rejects.toThrow(/line 2/)
  }
  expect(process.cpuUsage().user - began).toBeLessThan(4_000_000) // microseconds
})

test.each([
  ['', 'the file is empty'],
  [
    '{"name":"a"}',
    'not a JSON array: put its users in `[…]`, or give --format ndjson if each line is',
  ],
  ['[{"name":"a"},\n', 'the JSON array does not end: see line 2'],
])('the import of %j fails: %s', async (file, message) => {
  await expect(read(readJson, file)).rejects.toThrow(message)
})
