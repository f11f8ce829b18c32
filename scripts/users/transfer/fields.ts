// The fields of a user from the columns of a line of CSV, or from the keys of an object in JSON, which may differ from
// object to object. What seems to say something else than would be stored is refused.
import { isUserId } from '../../../src/store/user-id.ts'
import type { Content, Line } from './lines.ts'
import {
  FIELDS,
  headerOf,
  isKnownTitle,
  REQUIRED,
  summaryOf,
  type Columns,
  type Header,
  type Way,
} from './titles.ts'

/** A line of CSV; that of the titles has no values. */
export type Row = { line: number; element?: number; titles: string[]; values?: string[] }

export type Read = (
  text: AsyncIterable<string>,
  chosen: Columns,
) => AsyncGenerator<Iterable<Row | Line>>

/**
 * Makes a reader of users from a reader of lines or objects. It calls `onColumns` with the titles that are used and those
 * that are not; again at the end, if keys differ.
 *
 * @throws Error a column is missing
 */
export function fieldsFrom(read: Read) {
  return async function* (
    text: AsyncIterable<string>,
    chosen: Columns = {},
    onColumns: (summary: string) => void = () => {},
  ): AsyncGenerator<Iterable<Line>> {
    const headers = new Map<unknown, Header>()

    function headerWith(titles: string[], key: unknown): Header {
      const known = headers.get(key)
      if (known) return known
      const header = headerOf(titles, chosen)
      if (key === titles && header.problem) throw new Error(header.problem) // of a CSV file
      if (headers.size === 0) onColumns(summaryOf([header]))
      if (headers.size < MAX_HEADERS) headers.set(key, header)
      return header
    }

    function* usersIn(rows: Iterable<Row | Line>): Generator<Line> {
      for (const row of rows) {
        const { line, element } = row
        if ('reason' in row) yield row
        else if ('titles' in row) {
          const header = headerWith(row.titles, row.titles)
          if (row.values) yield { line, ...contentOf(row.values, header) }
        } else {
          const titles = Object.keys(row.fields)
          const values = Object.values(row.fields).map(plain)
          yield { line, element, ...contentOf(values, headerWith(titles, titles.join('\n'))) }
        }
      }
    }

    try {
      for await (const rows of read(text, chosen)) yield usersIn(rows)
    } finally {
      if (headers.size > 1) onColumns(summaryOf([...headers.values()]))
    }
  }
}

/** The most different sets of keys that are remembered and reported. */
const MAX_HEADERS = 100

/** The value in MongoDB's extended JSON, such as `{"$oid":"…"}`. */
function plain(value: unknown): unknown {
  const [entry, ...more] = typeof value === 'object' && value ? Object.entries(value) : []
  return more.length === 0 && /^\$(oid|uuid|number\w+)$/.test(entry?.[0] ?? '') ? entry![1] : value
}

/** A spreadsheet may leave out empty fields at the end of a record, or add some to all records. */
function contentOf(values: unknown[], header: Header): Content {
  const { titles, ways, minWidth } = header
  header.maxWidth ??= Math.max(titles.length, values.length)
  const isShifted = values.length > header.maxWidth
  if (
    values.length < minWidth ||
    isShifted ||
    values.slice(titles.length).some((value) => value !== '')
  ) {
    const count = plural(values.length, 'field')
    const width = plural(titles.length, 'title')
    return { reason: `it has ${count}, but the first line has ${width}` }
  }
  const fields = Object.fromEntries(
    FIELDS.map((field) => [field, valueOf(values, ways[field], header.either)]),
  )
  // The titles and the id are those of export-users.
  const areOwn = titles.length === FIELDS.length && FIELDS.every((field) => titles.includes(field))
  const isExact = areOwn && isUserId(String(fields['id']))
  const reason = isExact ? undefined : refusalReason(fields, values, header)
  return reason === undefined ? { fields, isExact } : { reason }
}

const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`

function valueOf(values: unknown[], ways: Way[], either: number[]): unknown {
  for (const way of ways) {
    const columns = way.flatMap((part) => part.find((index) => !isAbsent(values[index])) ?? [])
    const noText = columns.find((index) => typeof values[index] === 'object')
    if (noText !== undefined) return values[noText] // validation says so
    const fullName = columns.find(
      (index) => either.includes(index) && hasAll(values, index, columns),
    )
    if (fullName !== undefined) return values[fullName]
    if (columns.length > 0) return columns.map((index) => values[index]).join(' ')
  }
  return values[ways.flat(2)[0]!] || ''
}

/** JSON exports of some systems have `false` where there is no value. */
const isAbsent = (value: unknown): boolean => value === false || textOf(value).trim() === ''

/** Whether the column at `index` has more words than each other one, and all of theirs: `Alm, Ada` and `Alm`. */
function hasAll(values: unknown[], index: number, columns: number[]): boolean {
  const wordsAt = (column: number) =>
    String(values[column])
      .toLowerCase()
      .split(/[\s,]+/)
  const all = wordsAt(index)
  return columns.every((column) => {
    const words = wordsAt(column)
    return (
      column === index || (words.length < all.length && words.every((word) => all.includes(word)))
    )
  })
}

/** Why a record is refused: it may mean something else than its fields say. */
function refusalReason(fields: Record<string, unknown>, values: unknown[], header: Header) {
  const { titles, chosen, ways, unused } = header
  const wrong = header.problem ?? header.doubt
  const isText = (index: number) =>
    typeof values[index] !== 'boolean' && /\p{L}/u.test(textOf(values[index]))
  if (wrong && unused.some(isText)) return wrong
  const untitled = header.untitled.find(isText)
  if (untitled !== undefined) return `column ${untitled + 1} has a text, but no title: give it one`
  const name = textOf(fields['name'])
  const email = textOf(fields['email'])
  if (name.includes('\x1b')) return HAS_ESCAPES
  if (CODES.test(name) || MOJIBAKE.test(name)) return IS_ENCODED
  if (email.includes('@')) return MARKUP.test(email) ? HAS_MARKUP : undefined
  const other = values.findIndex((value) => textOf(value).includes('@'))
  if (other >= 0 && chosen.email === undefined)
    return `its email has no @, but \`${titles[other]}\` has: choose with --email-column, or correct it`
  const used = REQUIRED.flatMap((field) => ways[field].flat(2))
  const given = used.map((index) => textOf(values[index])).filter(Boolean)
  const isTitle = (text: string) => isKnownTitle(text) || titles.includes(text)
  if (given.length > 0 && given.every(isTitle)) return 'it repeats the titles'
  return NO_USER.test(name) ? IS_NO_USER : undefined
}

/** In an email that is more than an address: `Ada <ada@example.com>`, quotes, what cannot be seen. */
const MARKUP = /^\s|\s$|[<>\p{Cc}\p{Cf}]|mailto:|^smtp:|^['"=`´“”„‘’«»]|['"`´“”‘’«»]$/iu
const HAS_MARKUP = 'its email has more than an address, perhaps invisibly: leave only the address'

const HAS_ESCAPES =
  'its name has escape characters, as text in ISO-2022-JP has: use --encoding iso-2022-jp'

/** Of HTML, formulas, MIME (RFC 2047), UTF-7, HZ and csvde. */
const CODES =
  /&(#\d+|#x[\da-f]+|amp|lt|gt|quot|apos|nbsp|[A-Za-z](uml|acute|grave|circ|tilde|cedil));|<\/[a-z]|<[a-z]+ [a-z]+=|^=[A-Z]+\(|=\?[\w-]+\?[BbQq]\?|\+(?=[a-z\d/]*[A-Z])[A-Za-z\d/]{3,}-|~\{[!-}]+~\}|^X'[\da-f]+'$/
/** UTF-8 that was read as Windows-1252. */
const MOJIBAKE = /[ÂÃÄÅ][\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]/
const IS_ENCODED =
  'its name has codes in place of characters: correct it, or export the file as UTF-8'

const NO_USER =
  /^[-=+:|_*. ]+$|^((grand|sub) ?)?totals?\b|^(summe|gesamt|somme|suma)\b|confidential|copyright|©|^generated|^export(ed|iert|é|ado) |^e\.g\. |^[*†]|^\(required\)|^(count|anzahl|合計|合计|总计)[:：\s\d]*$|^string$|^\{/i
const IS_NO_USER =
  'it looks like a footer or a line of a table: delete it, or give the user an email'

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
