// Users as comma-separated values (RFC 4180), as spreadsheets write them: any separator, any order of
// columns, a line break within quotes. A record whose quotes are broken is one line.
import type { User } from '../../src/store/user-store.ts'
import { NOT_TEXT, readRecords, type Content, type Find, type Line } from './line.ts'

/** What the column of a field may be called, as `titleOf` puts it. */
const NAMES = {
  id: ['id'],
  name: ['name', 'full name', 'display name'],
  email: [
    'email',
    'e mail',
    'email address',
    'e mail address',
    'mail',
    'primary email',
    'e mail 1 value',
  ],
}
/** The columns that make a name where there is none of names. */
const PARTS = [
  ['first name', 'firstname', 'given name', 'forename'],
  ['middle name', 'additional name'],
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
  let cr = true // whether a carriage return alone ends a line: if it does so behind the titles
  const find: Find = (text, at, isLast) => {
    if (!header) {
      const start = BLANK.exec(text.slice(at, at + 1_000))![0].length
      if (start > 0) return { end: at + start }
      const said = /^sep=(.)(?:\r\n|\n|\r(?=[^\n]))/i.exec(text.slice(at, at + 8)) // Excel's
      if (said) separator = said[1]!
      if (said) return { end: at + said[0].length }
      separator ??= separatorOf(text, at, columns)
    }
    const record = separator
      ? readRecord(text, at, separator, cr, header?.indexes.email)
      : 'unfinished'
    if (record === 'unfinished' && !isLast) return undefined
    if (typeof record === 'string') {
      const end = endOfLine(text, at, cr)
      if (!isLast && end === text.length) return undefined
      if (!header) throw new Error('the quotes of the first line are broken')
      return { end, content: BROKEN }
    }
    const { fields, end } = record
    if (fields.every((field) => field === '')) return { end }
    if (header) return { end, content: pick(fields, header) }
    header = headerOf(fields, columns)
    cr = text[end - 1] === '\r'
    return { end }
  }
  yield* readRecords(text, find, /\r\n|\n|\r(?!$)/, true)
  if (!header) throw new Error('the file is empty')
}

/** What is white but no tab, which may separate empty titles. */
const BLANK = /^[ \r\n]*/

const BROKEN = { reason: 'its quotes are broken' }

/** Where the line at `at` ends: a line of a CSV file may also end with a carriage return alone. */
function endOfLine(text: string, at: number, cr: boolean): number {
  const lineEnd = cr ? /\r\n?|\n/g : /\n/g
  lineEnd.lastIndex = at
  return lineEnd.test(text) ? lineEnd.lastIndex : text.length
}

/**
 * The fields at `at`, and where what follows them begins.
 *
 * @param cr whether a carriage return alone ends a line
 * @param email the index of an email, around which spaces are no part of it unless they are quoted
 */
function readRecord(
  text: string,
  at: number,
  separator: string,
  cr: boolean,
  email?: number,
): { fields: string[]; end: number } | 'unfinished' | 'broken' {
  const fields: string[] = []
  for (;;) {
    const field = readField(text, at, separator, cr)
    if (!field || field.end >= text.length) return 'unfinished'
    const isBare = fields.length === email && !field.isQuoted
    fields.push(isBare ? field.value.trim() : field.value)
    at = field.end + 1
    if (text[field.end] === separator) continue
    const end = behindLineEnd(text, field.end, cr)
    if (typeof end === 'number') return { fields, end }
    return end ?? 'broken'
  }
}

/** Behind the end of a line that is at `at`, if it is: some programs put a carriage return before one that is there. */
function behindLineEnd(text: string, at: number, cr: boolean): number | 'unfinished' | undefined {
  let end = at
  while (text[end] === '\r' && end < at + 2) end += 1
  if (end > at && end === text.length) return 'unfinished'
  if (text[end] === '\n') return end + 1
  return cr && end > at ? at + 1 : undefined
}

interface Read {
  value: string
  end: number
  isQuoted?: boolean
}

/** A field; nothing of one that is not whole. Spaces around quotes, which RFC 4180 has not, are no part of it. */
function readField(text: string, at: number, separator: string, cr: boolean): Read | undefined {
  if (text[at] === '"') return quoted(text, at)
  if (text[at] !== ' ') return unquoted(text, at, separator, cr)
  const quote = endOfSpaces(text, at)
  const field = text[quote] === '"' ? quoted(text, quote) : unquoted(text, at, separator, cr)
  const isBroken = field?.isQuoted && field.end < text.length && !ENDS.includes(text[field.end]!)
  return isBroken && text[field.end] !== separator ? unquoted(text, at, separator, cr) : field
}

const ENDS = '\r\n'

function endOfSpaces(text: string, at: number): number {
  while (text[at] === ' ') at += 1
  return at
}

function quoted(text: string, start: number): Read | undefined {
  let value = ''
  for (let from = start + 1; ;) {
    const quote = text.indexOf('"', from)
    if (quote < 0) return undefined
    value += text.slice(from, quote)
    if (text[quote + 1] !== '"') return { value, end: endOfSpaces(text, quote + 1), isQuoted: true }
    value += '"'
    from = quote + 2
  }
}

function unquoted(text: string, start: number, separator: string, cr: boolean): Read {
  let end = start
  for (; end < text.length; end += 1) {
    const char = text[end]
    if (char === separator || char === '\n') break
    if (char === '\r' && behindLineEnd(text, end, cr)) break
  }
  return { value: text.slice(start, end), end }
}

/** How wide the records are, and what stands where in them. */
interface Header {
  width: number
  /** How many fields a record must have at least: a spreadsheet may leave out empty ones at its end. */
  least: number
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
  const indexes = { id: find('id'), name: name ?? [], email }
  const least = Math.max(indexes.id, ...indexes.name, email) + 1
  return { width: fields.length, least, indexes }
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

/** The separator with which the titles at `at` have the most that are known, or the most at all; none yet, perhaps. */
function separatorOf(text: string, at: number, columns: Columns): string | undefined {
  const names = (['id', 'name', 'email'] as const).flatMap((field) => namesOf(field, columns))
  const known = new Set([...names, ...PARTS.flat()])
  const score = (separator: string): number => {
    const record = readRecord(text, at, separator, true)
    if (typeof record === 'string') return 0
    const titles = record.fields.map(titleOf)
    return titles.filter((title) => known.has(title)).length * 1_000 + titles.length
  }
  const best = [',', ';', '\t', '|'].toSorted((a, b) => score(b) - score(a))[0]!
  return score(best) > 0 ? best : undefined
}

function pick(record: string[], { width, least, indexes }: Header): Content {
  const isWide = record.length > width && record.slice(width).some((field) => field !== '')
  if (isWide || record.length < least) {
    return { reason: `it has ${record.length} fields, the header has ${width}` }
  }
  const names = indexes.name.map((index) => record[index]!)
  const fields = {
    id: record[indexes.id] || undefined,
    name: names.length > 1 ? names.filter((name) => name !== '').join(' ') : (names[0] ?? ''),
    email: record[indexes.email] ?? '',
  }
  const isText = Object.values(fields).every((field) => field?.isWellFormed() ?? true)
  return isText ? { fields } : NOT_TEXT
}

export const CSV_HEADER = 'id,name,email\r\n'

export const csv = (users: User[]): string =>
  users.map(({ id, name, email }) => `${id},${escape(name)},${escape(email)}\r\n`).join('')

const escape = (field: string): string =>
  /[",\r\n]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field
