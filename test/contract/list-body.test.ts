// Lists as JSON arrays and as lines.
import { expect, test } from '@jest/globals'
import { jsonArray, jsonLines } from '../../src/contract/list-body.ts'

async function* parts(lists: unknown[][]) {
  yield* lists
}

async function written(chunks: AsyncIterable<string>): Promise<string[]> {
  const all = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

test.each([
  ['no part', [], ['[]'], []],
  ['only empty parts', [[], []], ['[]'], []],
  ['one part', [[1, 2]], ['[1,2', ']'], ['1\n2\n']],
  ['two parts', [[1], ['a\n']], ['[1', ',"a\\n"', ']'], ['1\n', '"a\\n"\n']],
  ['empty parts among others', [[], [1], [], [2]], ['[1', ',2', ']'], ['1\n', '2\n']],
])('writes a list of %s as an array and as lines', async (_, lists, array, lines) => {
  expect(await written(jsonArray(parts(lists)))).toEqual(array)
  expect((await written(jsonLines(parts(lists)))).filter(Boolean)).toEqual(lines)
})
