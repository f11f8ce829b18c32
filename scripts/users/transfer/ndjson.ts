// Users as newline-delimited JSON: an object on each line.
import { UsageError } from '../program.ts'
import { columnsOf, wrongColumns, type Template } from './columns.ts'
import type { Reader } from './lines.ts'

export function ndjsonReader(templates: Template[]): Reader {
  /** The keys of the last object. */
  let keys = ''
  let columns: ReturnType<typeof columnsOf> = ''
  return {
    read(text, line) {
      if (text.trim() === '') return undefined
      const object = parseObject(text)
      if (!object && !keys) throw new UsageError(`line ${line} is not a JSON object. ${USE_JQ}`)
      if (!object) return { line, text, problem: 'it is not a JSON object' }
      const [titles, values] = [Object.keys(object), Object.values(object)]
      const newKeys = JSON.stringify(titles)
      if (newKeys !== keys) columns = columnsOf(titles, templates)
      const found = columns
      if (typeof found === 'string' && !keys) throw wrongColumns(found, titles, values)
      keys = newKeys
      if (typeof found === 'string') return { line, text, problem: found }
      return { line, text, fields: () => found(values) }
    },
    end: () => undefined,
  }
}

export const USE_JQ = `Let jq write an object on each line, for example
  jq -c '.users[] | {name: .displayName, email: .mail}' FILE | import-users --format ndjson -`

function parseObject(text: string): object | undefined {
  try {
    return text.trim().startsWith('{') ? (JSON.parse(text) as object) : undefined
  } catch {
    return undefined
  }
}
