// Arrays joined to one.
import { expect, test } from '@jest/globals'
import { jsonArray } from '../src/contract/json-array.ts'
import type { JsonText } from '../src/contract/handlers.ts'

/** The parts of the array that is made of `arrays`. */
async function joined(...arrays: (string | Uint8Array)[]): Promise<string[]> {
  async function* all() {
    for (const array of arrays) yield array as JsonText<unknown[]>
  }
  const parts = []
  for await (const part of jsonArray(all())) parts.push(Buffer.from(part).toString())
  return parts
}

test.each([
  ['none', [], ['[]']],
  ['only empty ones', ['[]', Buffer.from('[]')], ['[]']],
  ['one', ['[1,2]'], ['[1,2', ']']],
  ['one as bytes', [Buffer.from('[1,2]')], ['[1,2', ']']],
  ['texts', ['[1]', '[2]'], ['[1', ',2', ']']],
  ['bytes', [Buffer.from('[1]'), Buffer.from('[2]')], ['[1', ',2', ']']],
  ['some of them empty', ['[]', '[1]', Buffer.from('[]'), '[2]'], ['[1', ',2', ']']],
])('joins %s', async (_, arrays, parts) => {
  expect(await joined(...arrays)).toEqual(parts)
})
