// Users as comma-separated values (RFC 4180), as spreadsheets write them: any separator, any order of
// columns, line breaks within quotes. Spaces around a field that is not in quotes are dropped.
import type { User } from '../../../src/store/user-store.ts'
import { fieldsFrom, type Read, type Row } from './fields.ts'
import { linesOf, MAX_FIELDS, MAX_LENGTH, TOO_LONG, TOO_WIDE, type Line } from './lines.ts'
import { FIELDS, separatorOf } from './titles.ts'

const readRows: Read = async function* (text, chosen) {
  let separator = ''
  let titles: string[] | undefined
  let open: OpenRow | undefined

  /** @param mayContinue whether a quote that is open at the end of the line may be closed in a later one */
  function* readLine(text: string, line: number, mayContinue = true): Generator<Row | Line> {
    if (!separator && !findSeparator(text)) return
    const row = open ?? { line, lines: [], length: 0, fields: [], quoted: undefined }
    const end = readFields(row, text, separator)
    open = end === 'open' && mayContinue ? row : undefined
    if (end === 'complete') yield* addRow(row)
    else if (!open) yield* refuse(row, end === 'broken')
  }

  function findSeparator(text: string): boolean {
    const declared = /^"?sep=(.)"?\1*[\r\n]*$/i.exec(text) // as Excel writes it
    if (declared || text.trim() !== '') separator = declared?.[1] ?? separatorOf(text, chosen)
    return !declared && separator !== ''
  }

  function* addRow({ line, fields }: OpenRow): Generator<Row | Line> {
    if (fields.every((field) => field === '')) return
    if (titles) return yield { line, titles, values: fields }
    if (fields.every((field) => /^('.*'|)$/.test(field))) throw new Error(APOSTROPHES)
    titles = fields
    yield { line, titles }
  }

  /**
   * Refuses the first line of a row and reads its other lines again. At the end of every line but the last, a
   * quote was open, and the row broke later. If a quote is open there again, the row breaks at the same place.
   * So each of these lines must now close its quotes, and no line is read more than twice.
   */
  function* refuse(row: OpenRow, lastMayContinue: boolean): Generator<Row | Line> {
    const { line, lines } = row
    open = undefined
    const isWide = row.fields.length === MAX_FIELDS
    const content = row.length > MAX_LENGTH ? TOO_LONG : isWide ? TOO_WIDE : BROKEN
    if (!titles) throw new Error(`the titles cannot be read: ${content.reason}`)
    yield { line, ...content }
    for (const [i, text] of lines.entries()) {
      if (i > 0) yield* readLine(text, line + i, lastMayContinue && i === lines.length - 1)
    }
  }

  function* readAll(lines: string[], first: number): Generator<Row | Line> {
    for (const [i, text] of lines.entries()) yield* readLine(text, first + i)
  }

  for await (const { first, lines } of linesOf(text)) yield readAll(lines, first)
  if (open) yield refuse(open, false)
  if (!titles) throw new Error('the file is empty')
}

export const readCsv = fieldsFrom(readRows)

const APOSTROPHES = 'the titles are in apostrophes: write double quotes (") instead, in all lines'
const BROKEN = { reason: 'its quotes are broken' }

/** A record, as far as it was read. */
interface OpenRow {
  line: number
  lines: string[]
  /** The length of its lines together. */
  length: number
  fields: string[]
  /** The text after the open quote, so far. */
  quoted: string | undefined
}

/** Reads the next line of `row`. */
function readFields(row: OpenRow, text: string, separator: string): 'complete' | 'open' | 'broken' {
  row.lines.push(text)
  row.length += text.length
  if (row.length > MAX_LENGTH) return 'broken'
  for (let at = 0; ; at += 1) {
    if (row.fields.length === MAX_FIELDS) return 'broken'
    if (row.quoted === undefined) {
      QUOTE.lastIndex = at
      if (!QUOTE.test(text)) {
        const end = text.indexOf(separator, at)
        row.fields.push(text.slice(at, end < 0 ? undefined : end).trim())
        if (end < 0) return 'complete'
        at = end
        continue
      }
      at = QUOTE.lastIndex
    }
    const end = endOfQuotes(text, at)
    row.quoted = (row.quoted ?? '') + text.slice(at, end).replaceAll('""', '"')
    if (end === text.length) return 'open'
    row.fields.push(row.quoted)
    row.quoted = undefined
    for (at = end + 1; text[at] === ' ';) at += 1
    if (text[at] !== separator) return text.slice(at).trim() === '' ? 'complete' : 'broken'
  }
}

const QUOTE = / *"/y

/** The index of the closing quote, at `at` or after it; the end of `text` if there is none. */
function endOfQuotes(text: string, at: number): number {
  for (;;) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return text.length
    if (text[quote + 1] !== '"') return quote
    at = quote + 2
  }
}

export const CSV_TITLES = `${FIELDS.join(',')}\r\n`

export const csvLine = (user: User): string =>
  `${FIELDS.map((field) => quote(user[field])).join(',')}\r\n`

const quote = (field: string): string =>
  /[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
