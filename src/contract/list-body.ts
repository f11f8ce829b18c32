// Writes a list as one JSON array or as lines of JSON, part by part. Never holds more than one part.

export const LINES_TYPE = 'application/x-ndjson' // https://github.com/ndjson/ndjson-spec

/** The items of all `parts` as one JSON array. */
export async function* jsonArray(parts: AsyncIterable<unknown[]>): AsyncGenerator<string> {
  let opening = '['
  for await (const items of parts) {
    if (items.length === 0) continue
    yield opening + JSON.stringify(items).slice(1, -1)
    opening = ','
  }
  yield opening === '[' ? '[]' : ']'
}

/** The items of all `parts`, each as one line. */
export async function* jsonLines(parts: AsyncIterable<unknown[]>): AsyncGenerator<string> {
  for await (const items of parts) yield linesOf(items)
}

export const linesOf = (items: unknown[]): string =>
  items.map((item) => `${JSON.stringify(item)}\n`).join('')
