// Users as one JSON array, element by element.
import type { User } from '../../src/store/user-store.ts'
import { endOfLine, readRecords, type Line } from './line.ts'
import { parseObject } from './ndjson.ts'

/** @throws Error there is no array, or not just one */
export async function* readJson(text: AsyncIterable<string>): AsyncGenerator<Line[]> {
  let state = 'before' as 'before' | 'in' | 'after'
  yield* readRecords(text, (text, at, isLast) => {
    const start = skip(text, at)
    if (start > at) return { end: start } // so that the line of what follows is known
    if (state === 'in' && text[at] !== ']') {
      const end = endOfValue(text, at)
      if (end !== undefined) return { end, content: parseObject(text.slice(at, end)) }
      return isLast ? { end: endOfLine(text, at), content: DOES_NOT_END } : undefined
    }
    if (state === 'after') throw new Error('there is something behind the JSON array')
    if (state === 'before' && text[at] !== '[') throw new Error('the file is no JSON array')
    state = state === 'in' ? 'after' : 'in'
    return { end: at + 1 }
  })
  if (state === 'before') throw new Error('the file is empty')
  if (state === 'in') throw new Error('the JSON array does not end')
}

const DOES_NOT_END = { reason: 'it does not end' }

/** Where something other than white space and commas is, at `from` or behind it. */
function skip(text: string, from: number): number {
  SEPARATORS.lastIndex = from
  SEPARATORS.test(text)
  return SEPARATORS.lastIndex
}
const SEPARATORS = /[\s,]*/y

/** Where the JSON value at `from` ends, if it does. */
function endOfValue(text: string, from: number): number | undefined {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    const char = text[at]!
    if (char === '"') {
      const end = endOfString(text, at)
      if (end === undefined) return undefined
      at = end - 1
    } else if (char === '{' || char === '[') {
      depth += 1
    } else if (char === '}' || char === ']') {
      depth -= 1
      if (depth <= 0) return depth < 0 && at > from ? at : at + 1
    } else if (char === ',' && depth === 0) {
      return at
    }
  }
  return undefined
}

function endOfString(text: string, start: number): number | undefined {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0
    while (text[at - 1 - escapes] === '\\') escapes += 1
    if (escapes % 2 === 0) return at + 1
  }
  return undefined
}

/** Elements of an array, a line each. */
export const jsonLines = (users: User[]): string =>
  users.map((user) => JSON.stringify(user)).join(',\n')
