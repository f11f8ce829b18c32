// Users as newline-delimited JSON: one object on each line.
import { linesOf, MAX_LENGTH, TOO_LONG, type Content, type Line } from './lines.ts'

/** @throws Error the file begins as a JSON array */
export async function* readNdjson(text: AsyncIterable<string>): AsyncGenerator<Line[]> {
  let isStarted = false

  function read(text: string, line: number): Line[] {
    if (text.trim() === '') return []
    if (!isStarted && text.trimStart().startsWith('[')) throw new Error(IS_ARRAY)
    isStarted = true
    return [{ line, ...parse(text) }]
  }

  for await (const { first, lines } of linesOf(text)) {
    yield lines.flatMap((line, i) => read(line, first + i))
  }
}

const IS_ARRAY = 'the file begins as a JSON array: give --format json'

function parse(text: string): Content {
  if (text.length > MAX_LENGTH) return TOO_LONG
  try {
    return contentIn(JSON.parse(text))
  } catch {
    return NOT_JSON
  }
}

/** The fields in a value of JSON. */
export function contentIn(value: unknown): Content {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? { fields: value as Record<string, unknown> } : NOT_AN_OBJECT
}

export const NOT_JSON = { reason: 'it is not valid JSON' }
const NOT_AN_OBJECT = { reason: 'it is not a JSON object' }
