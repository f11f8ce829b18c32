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
    checkItems(items)
    const text = opening + JSON.stringify(items).slice(1, -1)
    opening = ','
    return text
  }
}

/** Each item as one line, also for readers such as Python's splitlines(), to whom these three end a line, too. */
export const writeLines: ListWriter = (items = []) => {
  checkItems(items)
  const lines = items.map((item) => `${JSON.stringify(item)}\n`).join('')
  return lines.replaceAll(/[\u0085\u2028\u2029]/g, escaped)
}

/** @throws TypeError JSON has no such item: it would become null in an array, and `undefined` in a line */
export function checkItems(items: unknown[]): void {
  for (const item of items)
    if (item === undefined || typeof item === 'function' || typeof item === 'symbol')
      throw new TypeError(`an item of a list is ${typeof item}: it cannot be written as JSON`)
}

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
