// Writes a JSON array as it comes. Never holds more than a chunk of it.

/** The size, in UTF-16 code units, from which on a chunk is passed on. */
const CHUNK = 16_384

/** The JSON text of an array of `items`, in chunks; the first one comes with the first items. */
export async function* jsonArray(items: AsyncIterable<unknown>): AsyncGenerator<string> {
  let text = '['
  let separator = ''
  for await (const item of items) {
    text += separator + JSON.stringify(item)
    separator = ','
    if (text.length < CHUNK) continue
    yield text
    text = ''
  }
  yield `${text}]`
}
