// Writes a list as one JSON array or as lines of JSON, part by part.

export const LINES_TYPE = 'application/x-ndjson' // https://github.com/ndjson/ndjson-spec

/** Writes the next items; without items, the end of the list. */
export type ListWriter = (items?: unknown[]) => string

/** A function that writes one JSON array. */
export function arrayWriter(): ListWriter {
  let opening = '['
  return (items) => {
    if (!items) return opening === '[' ? '[]' : ']'
    if (items.length === 0) return ''
    const text = opening + JSON.stringify(items).slice(1, -1)
    opening = ','
    return text
  }
}

/** Each item as one line. */
export const writeLines: ListWriter = (items = []) =>
  items.map((item) => `${JSON.stringify(item)}\n`).join('')
