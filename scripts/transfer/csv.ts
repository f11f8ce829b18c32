// Users as comma-separated values (RFC 4180), as spreadsheets write them: any separator, any order of
// columns, a line break within quotes. A record whose quotes are broken is one line.
import type { User } from '../../src/store/user-store.ts'
import { NOT_UTF8, readRecords, type Content, type Find, type Line } from './line.ts'

/** What the column of a field may be called, as `titleOf` puts it. */
const NAMES = {
  id: ['id'],
  name: ['name', 'full name', 'display name'],
  email: ['email', 'e mail', 'email address', 'e mail address', 'mail'],
}
/** The columns that make a name where there is none of names. */
const PARTS = [
  ['first name', 'firstname', 'given name', 'forename'],
  ['last name', 'lastname', 'family name', 'surname'],
]
type Field = keyof typeof NAMES

/** What the column of a field is called in a file, where it is none of the usual names. */
export type Columns = { [F in Field]?: string | undefined }

/** @throws Error there is no column of names, or of emails */
export async function* readCsv(
  text: AsyncIterable<string>,
  columns: Columns = {},
): AsyncGenerator<Line[]> {
  let separator: string | undefined
  let header: Header | undefined
  const find: Find = (text, at, isLast) => {
    if (!header && !isLast && endOfLine(text, at) === text.length) return undefined
    const said = header ? null : /^sep=(.)[\r\n]/i.exec(text.slice(at, at + 6)) // Excel's
    if (said) separator = said[1]!
    if (said) return { end: endOfLine(text, at) }
    separator ??= separatorOf(text.slice(at, endOfLine(text, at)), columns)
    const record = readRecord(text, at, separator)
    if (record === 'unfinished' && !isLast) return undefined
    if (typeof record === 'string') {
      if (!isLast && endOfLine(text, at) === text.length) return undefined
      if (!header) throw new Error('the quotes of the first line are broken')
      return { end: endOfLine(text, at), content: BROKEN }
    }
    const { fields, end } = record
    if (fields.every((field) => field === '')) return { end }
    if (header) return { end, content: pick(fields, header) }
    header = headerOf(fields, columns)
    return { end }
  }
  yield* readRecords(text, find, true)
  if (!header) throw new Error('the file is empty')
}

const BROKEN = { reason: 'its quotes are broken' }

/** Where the line at `at` ends: a line of a CSV file may also end with a carriage return alone. */
function endOfLine(text: string, at: number): number {
  LINE_END.lastIndex = at
  return LINE_END.test(text) ? LINE_END.lastIndex : text.length
}
const LINE_END = /\r\n?|\n/g

/** The fields at `at`, and where what follows them begins. */
function readRecord(
  text: string,
  at: number,
  separator: string,
): { fields: string[]; end: number } | 'unfinished' | 'broken' {
  const fields: string[] = []
  for (;;) {
    const field = text[at] === '"' ? quoted(text, at) : unquoted(text, at, separator)
    if (!field || field.end >= text.length) return 'unfinished'
    fields.push(field.value)
    const char = text[field.end]!
    at = field.end + 1
    if (char === separator) continue
    if (char === '\n') return { fields, end: at }
    if (char !== '\r') return 'broken'
    if (at === text.length) return 'unfinished'
    return { fields, end: text[at] === '\n' ? at + 1 : at }
  }
}

function quoted(text: string, start: number): { value: string; end: number } | undefined {
  let value = ''
  for (let from = start + 1; ;) {
    const quote = text.indexOf('"', from)
    if (quote < 0) return undefined
    value += text.slice(from, quote)
    if (text[quote + 1] !== '"') return { value, end: quote + 1 }
    value += '"'
    from = quote + 2
  }
}

function unquoted(text: string, start: number, separator: string): { value: string; end: number } {
  let end = start
  for (; end < text.length; end += 1) {
    const char = text[end]
    if (char === separator || char === '\n' || char === '\r') break
  }
  return { value: text.slice(start, end), end }
}

/** How wide the records are, and what stands where in them. */
interface Header {
  width: number
  indexes: { id: number; name: number[]; email: number }
}

function headerOf(fields: string[], columns: Columns): Header {
  const titles = fields.map(titleOf)
  const indexOf = (names: string[]): number => titles.findIndex((title) => names.includes(title))
  const find = (field: Field): number => indexOf(namesOf(field, columns))
  const missing = (field: Field): never => {
    const asked = columns[field] ?? field
    throw new Error(
      `there is no column \`${asked}\`, but ${fields.join(', ')}: --${field}-column says which it is`,
    )
  }
  const whole = [find('name')]
  const parts = columns.name === undefined ? PARTS.map(indexOf) : []
  const name = [whole, parts].map(known).find(({ length }) => length > 0)
  const email = find('email')
  if (!name && columns.name !== '') missing('name')
  if (email < 0 && columns.email !== '') missing('email')
  return { width: fields.length, indexes: { id: find('id'), name: name ?? [], email } }
}

const known = (indexes: number[]): number[] => indexes.filter((index) => index >= 0)

const namesOf = (field: Field, columns: Columns): string[] =>
  columns[field] === undefined ? NAMES[field] : [titleOf(columns[field])]

/** In small letters, with one space for what is between words: `E-Mail_Address` is `e mail address`. */
const titleOf = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, ' ')

/** The separator with which `line` has the most columns that are known, or the most at all. */
function separatorOf(line: string, columns: Columns): string {
  const names = (['id', 'name', 'email'] as const).flatMap((field) => namesOf(field, columns))
  const known = new Set([...names, ...PARTS.flat()])
  const score = (separator: string): number => {
    const record = readRecord(line, 0, separator)
    if (typeof record === 'string') return 0
    const titles = record.fields.map(titleOf)
    return titles.filter((title) => known.has(title)).length * 1_000 + titles.length
  }
  return [',', ';', '\t', '|'].toSorted((a, b) => score(b) - score(a))[0]!
}

function pick(record: string[], { width, indexes }: Header): Content {
  const isWide = record.length > width && record.slice(width).some((field) => field !== '')
  if (isWide || record.length < width) {
    return { reason: `it has ${record.length} fields, the header has ${width}` }
  }
  const names = indexes.name.map((index) => record[index]!)
  const fields = {
    id: record[indexes.id] || undefined,
    name: names.length > 1 ? names.filter((name) => name !== '').join(' ') : (names[0] ?? ''),
    email: record[indexes.email] ?? '',
  }
  const isText = Object.values(fields).every((field) => field?.isWellFormed() ?? true)
  return isText ? { fields } : NOT_UTF8
}

export const CSV_HEADER = 'id,name,email\r\n'

export const csv = (users: User[]): string =>
  users.map(({ id, name, email }) => `${id},${escape(name)},${escape(email)}\r\n`).join('')

const escape = (field: string): string =>
  /[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
