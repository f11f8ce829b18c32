// Users as newline-delimited JSON: an object a line.
import type { User } from '../../src/store/user-store.ts'
import { endOfLine, NOT_TEXT, readRecords, type Content, type Find, type Line } from './line.ts'

export const readNdjson = (text: AsyncIterable<string>): AsyncGenerator<Line[]> =>
  readRecords(text, find, /\n/)

const find: Find = (text, at, isLast) => {
  const end = endOfLine(text, at)
  if (end === text.length && !isLast && !text.endsWith('\n')) return undefined
  const line = text.slice(at, end)
  return line.trim() === '' ? { end } : { end, content: parseObject(line) }
}

export function parseObject(text: string): Content {
  if (!text.isWellFormed()) return NOT_TEXT
  try {
    const fields: unknown = JSON.parse(text)
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return NO_OBJECT
    return { fields: fields as Record<string, unknown> }
  } catch {
    return NOT_JSON
  }
}

export const NOT_JSON = { reason: 'it is not valid JSON' }
const NO_OBJECT = { reason: 'it is no JSON object' }

export const ndjson = (users: User[]): string =>
  users.map((user) => `${JSON.stringify(user)}\n`).join('')
