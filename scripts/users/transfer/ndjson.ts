// Users as newline-delimited JSON: one object on each line.
import {
  linesOf,
  MAX_FIELDS,
  MAX_LENGTH,
  TOO_LONG,
  TOO_WIDE,
  type Content,
  type Line,
} from './lines.ts'

/** @throws Error the file begins as a JSON array */
export async function* readNdjson(text: AsyncIterable<string>): AsyncGenerator<Line[]> {
  let isStarted = false

  function read(text: string, line: number): Line[] {
    if (text.trim() === '') return []
    if (!isStarted && text.trimStart().startsWith('[')) throw new Error(IS_ARRAY)
    isStarted = true
    return [{ line, ...parseObject(text) }]
  }

  for await (const { first, lines } of linesOf(text)) {
    yield lines.flatMap((line, i) => read(line, first + i))
  }
}

const IS_ARRAY = 'the file begins as a JSON array: give --format json'

export function parseObject(text: string): Content {
  if (text.length > MAX_LENGTH) return TOO_LONG
  if (text.length > 1_000_000 && text.split(/[[{,]/, MAX_VALUES).length === MAX_VALUES)
    return TOO_WIDE
  try {
    const fields: unknown = JSON.parse(text)
    const isObject = typeof fields === 'object' && fields !== null && !Array.isArray(fields)
    if (!isObject) return NOT_AN_OBJECT
    const isWide = Object.keys(fields).length > MAX_FIELDS
    return isWide ? TOO_WIDE : { fields: fields as Record<string, unknown> }
  } catch {
    return NOT_JSON
  }
}

/** More would not fit into the memory of the image. It counts what is in texts, too. */
const MAX_VALUES = 200_000

export const NOT_JSON = { reason: 'it is not valid JSON' }
const NOT_AN_OBJECT = { reason: 'it is not a JSON object' }
