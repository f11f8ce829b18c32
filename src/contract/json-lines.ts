// Turns JSON arrays of objects into lines as they come (https://github.com/ndjson/ndjson-spec). Never
// parses them, never copies bytes, never holds more than one.
import type { JsonText } from './handlers.ts'

export const LINES_TYPE = 'application/x-ndjson'

/** The items of a list, each as a line. */
export const linesOf = (items: unknown[]): string =>
  items.map((item) => `${JSON.stringify(item)}\n`).join('')

/** Each object of `arrays` as a line; their first field is `id`. */
export async function* jsonLines(
  arrays: AsyncIterable<JsonText<unknown[]>>,
): AsyncGenerator<string | Uint8Array> {
  for await (const array of arrays) {
    if (array.length <= '[]'.length) continue
    yield typeof array === 'string'
      ? `${array.slice(1, -1).replaceAll(BETWEEN, '}\n{"id":')}\n`
      : broken(array)
  }
}

/**
 * Between two objects, and nowhere else: within a text a quotation mark has a backslash before it, or it
 * ends the text, and then `,`, `:`, `]` or `}` is next.
 */
const BETWEEN = '},{"id":'

/** The bytes of an array with line feeds for the commas between its objects, and for its closing bracket. */
function broken(array: Uint8Array): Uint8Array {
  const bytes = Buffer.from(array.buffer, array.byteOffset, array.length)
  for (let at = bytes.indexOf(BETWEEN); at !== -1; at = bytes.indexOf(BETWEEN, at + 1)) {
    bytes[at + 1] = LINE_FEED
  }
  bytes[bytes.length - 1] = LINE_FEED
  return bytes.subarray(1)
}

const LINE_FEED = 10
