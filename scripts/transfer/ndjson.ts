// Users as newline-delimited JSON: one object on each line.
import { linesOf, LONGEST, TOO_LONG, type Content, type Line } from './lines.ts'

/** @throws Error the file begins as a JSON array */
export async function* readNdjson(text: AsyncIterable<string>): AsyncGenerator<Line[]> {
  let isBegun = false

  function read(text: string, line: number): Line[] {
    if (text.trim() === '') return []
    if (!isBegun && text.trimStart().startsWith('[')) throw new Error(ARRAY)
    isBegun = true
    return [{ line, ...parseObject(text) }]
  }

  for await (const { first, lines } of linesOf(text)) {
    yield lines.flatMap((line, i) => read(line, first + i))
  }
}

const ARRAY = 'the file begins as a JSON array: give --format json'

export function parseObject(text: string): Content {
  if (text.length > LONGEST) return TOO_LONG
  try {
    const fields: unknown = JSON.parse(text)
    const isObject = typeof fields === 'object' && fields !== null && !Array.isArray(fields)
    return isObject ? { fields: fields as Record<string, unknown> } : NO_OBJECT
  } catch {
    return NOT_JSON
  }
}

export const NOT_JSON = { reason: 'it is not valid JSON' }
const NO_OBJECT = { reason: 'it is not a JSON object' }
