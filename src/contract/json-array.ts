// Joins JSON arrays as they come. Never parses them, never copies them, never holds more than one.
import type { JsonText } from './handlers.ts'

/** The JSON array of all items of `arrays`, in parts; the first comes with the first array. */
export async function* jsonArray(
  arrays: AsyncIterable<JsonText<unknown[]>>,
): AsyncGenerator<string | Uint8Array> {
  let opening = '['
  for await (const array of arrays) {
    if (array.length <= '[]'.length) continue
    yield typeof array === 'string' ? opening + array.slice(1, -1) : reopened(array, opening)
    opening = ','
  }
  yield opening === '[' ? '[]' : ']'
}

/** The bytes of an array, another one in the place of its opening bracket, and without the closing one. */
function reopened(array: Uint8Array, opening: string): Uint8Array {
  array[0] = opening.charCodeAt(0)
  return array.subarray(0, -1)
}
