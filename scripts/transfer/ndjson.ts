// Users as newline-delimited JSON: one object on each line.
import { linesOf, LONGEST, TOO_LONG, type Content, type Line } from './lines.ts'

export async function* readNdjson(text: AsyncIterable<string>): AsyncGenerator<Line[]> {
  for await (const { first, lines } of linesOf(text)) {
    yield lines.flatMap((line, i) =>
      line.trim() === '' ? [] : { line: first + i, ...parseObject(line) },
    )
  }
}

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
