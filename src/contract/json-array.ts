// Joins JSON arrays as they come. Never parses them, never holds more than one.
import type { JsonText } from './handlers.ts'

/** The bytes of the JSON array of all items of `arrays`; the first come with the first array. */
export async function* jsonArray(
  arrays: AsyncIterable<JsonText<unknown[]>>,
): AsyncGenerator<Buffer> {
  let separator = '['
  for await (const array of arrays) {
    const items = Buffer.from(array).subarray(1, -1)
    if (items.length === 0) continue
    yield Buffer.concat([Buffer.from(separator), items])
    separator = ','
  }
  yield Buffer.from(separator === '[' ? '[]' : ']')
}
