// Users as comma-separated values (RFC 4180), as spreadsheets write them: any separator, any order of
// columns, line breaks within quotes. Spaces around a field that is not in quotes are dropped.
import type { User } from '../../src/store/user-store.ts'
import { linesOf, MAX_LENGTH, TOO_LONG, type Content, type Line } from './lines.ts'
import { contentOf } from './records.ts'
import {
  FIELDS,
  headerOf,
  MAX_COLUMNS,
  openSummary,
  separatorOf,
  type Columns,
  type Header,
} from './titles.ts'

/**
 * @param onColumns called with the columns that are used and those that are not
 * @throws Error there are no titles, or no column of names or emails
 */
export async function* readCsv(
  text: AsyncIterable<string>,
  chosen: Columns = {},
  onColumns: (summary: string) => void = () => {},
): AsyncGenerator<Iterable<Line>> {
  let separator = ''
  let header: Header | undefined
  let open: Row | undefined
  let hasUsers = false
  let isAfterGap = false

  /** @param mayContinue whether a quote that is open at the end of the line may be closed in a later one */
  function* readLine(text: string, line: number, mayContinue = true): Generator<Line> {
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

  function* addRow({ line, fields }: Row): Generator<Line> {
    const isEmpty = fields.every((field) => field === '')
    if (isEmpty || !header) {
      isAfterGap = isEmpty && hasUsers
      if (!isEmpty) header = openHeader(fields)
      return
    }
    const content = pick(fields, header, isAfterGap)
    hasUsers ||= 'fields' in content
    isAfterGap &&= 'reason' in content
    yield { line, ...content }
  }

  function openHeader(titles: string[]): Header {
    if (titles.every((title) => /^('.*'|)$/.test(title))) throw new Error(APOSTROPHES)
    const header = headerOf(titles, chosen, 'column')
    const { absent, unrecognized } = header
    const problem = absent ?? unrecognized.name ?? unrecognized.email
    if (problem) throw new Error(problem)
    const summary = openSummary()
    summary.add(header)
    onColumns(summary.text())
    return header
  }

  /**
   * Refuses the first line of a row and reads its other lines again. At the end of every line but the last, a
   * quote was open, and the row broke later. If a quote is open there again, the row breaks at the same place.
   * So each of these lines must now close its quotes, and no line is read more than twice.
   */
  function* refuse(row: Row, lastMayContinue: boolean): Generator<Line> {
    const { line, lines } = row
    if (!header) throw new Error(`the titles cannot be read: ${brokenBy(row)}`)
    open = undefined
    yield { line, reason: brokenBy(row) }
    for (const [i, text] of lines.entries()) {
      if (i > 0) yield* readLine(text, line + i, lastMayContinue && i === lines.length - 1)
    }
  }

  function* readAll(lines: string[], first: number): Generator<Line> {
    for (const [i, text] of lines.entries()) yield* readLine(text, first + i)
  }

  for await (const { first, lines } of linesOf(text)) yield readAll(lines, first)
  if (open) yield refuse(open, false)
  if (!header) throw new Error('the file is empty')
}

const APOSTROPHES = 'the titles are in apostrophes: write double quotes (") instead, in all lines'

function brokenBy({ fields, length }: Row): string {
  if (length > MAX_LENGTH) return TOO_LONG.reason
  return fields.length < MAX_COLUMNS ? 'its quotes are broken' : TOO_WIDE
}

const TOO_WIDE = `it has more than ${MAX_COLUMNS.toLocaleString('en')} fields`

/** A record, as far as it was read. */
interface Row {
  line: number
  lines: string[]
  /** The length of its lines together. */
  length: number
  fields: string[]
  /** The text after the open quote, so far. */
  quoted: string | undefined
}

/** Reads the next line of `row`. */
function readFields(row: Row, text: string, separator: string): 'complete' | 'open' | 'broken' {
  row.lines.push(text)
  row.length += text.length
  if (row.length > MAX_LENGTH) return 'broken'
  for (let at = 0; ; at += 1) {
    if (row.fields.length === MAX_COLUMNS) return 'broken'
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

/** A spreadsheet may leave out empty fields at the end of a record, or add some. */
function pick(record: string[], header: Header, isAfterGap: boolean): Content {
  const { minWidth, titles } = header
  if (record.length >= minWidth && record.slice(titles.length).every((field) => field === ''))
    return contentOf(record, header, isAfterGap)
  const [fields, width] = [plural(record.length, 'field'), plural(titles.length, 'title')]
  return { reason: `it has ${fields}, but the first line has ${width}` }
}

const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

export const CSV_TITLES = `${FIELDS.join(',')}\r\n`

export const csvLine = (user: User): string =>
  `${FIELDS.map((field) => quote(user[field])).join(',')}\r\n`

const quote = (field: string): string =>
  /[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
