// Users as newline-delimited JSON: an object on each line.
import { UsageError } from '../program.ts'
import { columnsOf, wrongColumns, type Template } from './columns.ts'
import type { Reader } from './lines.ts'

export function ndjsonReader(templates: Template[]): Reader {
  /** The keys of the first object, without their values. mongoexport leaves out a key without a value. */
  let empty: Record<string, null> | undefined
  /** The keys of the last object. */
  let keys = ''
  let columns: ReturnType<typeof columnsOf> = ''
  return {
    read(text, line) {
      if (text.trim() === '') return undefined
      const object = parseObject(text)
      if (!object && !keys) throw new UsageError(`line ${line} is not a JSON object. ${USE_JQ}`)
      if (!object) return { line, text, problem: 'it is not a JSON object' }
      empty ??= Object.fromEntries(Object.keys(object).map((key) => [key, null]))
      const filled = { ...empty, ...object }
      const hasOthers = Object.keys(filled).length > Object.keys(empty).length
      const used = hasOthers ? object : filled // one of the others could be what is absent
      const [titles, values] = [Object.keys(used), Object.values(used)]
      const newKeys = JSON.stringify(titles)
      if (newKeys !== keys) columns = columnsOf(titles, templates, !hasOthers)
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
  jq -c '.users[] | {name: .displayName, email: .mail}' FILE >users.ndjson`

function parseObject(text: string): object | undefined {
  try {
    return text.trim().startsWith('{') ? (JSON.parse(text) as object) : undefined
  } catch {
    return undefined
  }
}
