// Users as comma-separated values (RFC 4180). A field that is not in quotes is trimmed.
import type { User } from '../../../src/store/user-store.ts'
import { UsageError } from '../program.ts'
import { columnsOf, FIELDS, wrongColumns, type Template } from './columns.ts'
import { MAX_BYTES, TOO_LONG, type Reader, type Row } from './lines.ts'

/** Reads records. One whose quotes are an odd number so far goes on in the next line. */
export function csvReader(templates: Template[]): Reader {
  let open: { line: number; text: string } | undefined
  let header: ReturnType<typeof readHeader> | undefined

  function readRecord(text: string, line: number, until: string): Row {
    const { titles, separator, split, columns } = header!
    const values = split(text)
    if (typeof columns === 'string') throw wrongColumns(columns, titles, values)
    if (!values) return { line, text, problem: BROKEN + until }
    const counts = `it has ${values.length} fields, and there are ${titles.length} titles`
    if (values.length !== titles.length) return { line, text, problem: counts + until }
    const lines = values.flatMap((value) => (/[\r\n]/.test(value) ? value.split(/[\r\n]/) : []))
    const hasRows = lines.some((part) => part.includes('@') && part.includes(separator))
    const problem = hasRows ? HIDDEN + until : undefined
    return { line, text, fields: () => columns(values), problem }
  }

  return {
    read(part, last) {
      const line = open?.line ?? last
      const text = open ? `${open.text}\n${part}` : part
      if (text.length > MAX_BYTES) throw new Error(`line ${line} ${open ? UNCLOSED : TOO_LONG}`)
      const hasOddQuotes = part.includes('"') && part.split('"').length % 2 === 0
      const isOpen = hasOddQuotes !== Boolean(open)
      open = isOpen ? { line, text } : undefined
      if (isOpen || text.trim() === '') return undefined
      if (header) return readRecord(text, line, last > line ? `, up to line ${last}` : '')
      header = readHeader(text, templates)
      return undefined
    },
    end() {
      if (!header) throw new UsageError(open ? NOT_CLOSED : 'the file is empty')
      if (typeof header.columns === 'string') throw wrongColumns(header.columns, header.titles)
      return open && { ...open, problem: NOT_CLOSED }
    },
  }
}

const BROKEN = 'it has a quote within a field: write a field with quotes as "Bob ""Bo"" Berg"'
const NOT_CLOSED = 'a quote is not closed, up to the end of the file'
const UNCLOSED = 'has a quote that is not closed: the import ends here'
const HIDDEN = 'a field seems to hold other rows, because a quote is closed too late'

/** The separator is the one with which the titles are those that are meant. If there is none, they are only shown. */
function readHeader(text: string, templates: Template[]) {
  const headers = [',', ';', '\t', '|'].map((separator) => {
    const split = splitterAt(separator)
    const titles = split(text)
    const columns = titles ? columnsOf(titles, templates) : BROKEN
    return { separator, split, titles: titles ?? [], columns }
  })
  const sorted = headers.toSorted((a, b) => b.titles.length - a.titles.length)
  return sorted.find(({ columns }) => typeof columns !== 'string') ?? sorted[0]!
}

/** Makes a function that returns the fields of a record; undefined if a quote is within a field. */
function splitterAt(separator: string) {
  const quoted = `[ ]*"([^"]*(?:""[^"]*)*)"[ \\r]*` // this form of the expression takes little memory
  const field = new RegExp(`(?:${quoted}|([^"${separator}]*))([${separator}]|$)`, 'y')
  return (text: string): string[] | undefined => {
    if (!text.includes('"')) return text.split(separator).map((value) => value.trim())
    const fields: string[] = []
    field.lastIndex = 0
    for (let end: string | undefined; end !== '';) {
      const found = field.exec(text)
      if (!found) return undefined
      fields.push(found[1]?.replaceAll('""', '"') ?? found[2]!.trim())
      end = found[3]
    }
    return fields
  }
}

/** Either no field is in quotes or all are, so that a wrong quote never makes a row that looks exported. */
export function csvLine(user: User): string {
  const fields = FIELDS.map((field) => user[field])
  const isPlain = fields.every((field) => !/[",\r\n]|^\s|\s$/.test(field))
  const line = isPlain ? fields : fields.map((field) => `"${field.replaceAll('"', '""')}"`)
  return `${line.join(',')}\r\n`
}
