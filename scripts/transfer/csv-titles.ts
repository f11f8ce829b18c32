// The titles of a CSV file: what separates them, and which column has which field.
import type { User } from '../../src/store/user-store.ts'

/** The titles that a column of each field may have, as `titleOf` writes them. */
const TITLES = {
  id: /^id$/,
  name: /^(full |display )?name$/,
  email: /^(primary )?(e ?)?mail( address| 1 value)?$/,
} satisfies Record<keyof User, RegExp>

/** The columns that together are the name when no column has the whole name. */
const PARTS = [
  /^(first|given|fore) ?name$/,
  /^(middle|additional) ?name$/,
  /^(last|family|sur) ?name$/,
]

type Field = keyof typeof TITLES
export const FIELDS = Object.keys(TITLES) as Field[]
const REQUIRED: Field[] = ['name', 'email']

/** The title of a field's column in this file; empty if there is no such column. */
export type Columns = { [F in Field]?: string | undefined }

/** How many columns there are, how many a record needs, and the indexes of each field's columns. */
export interface Header {
  width: number
  least: number
  indexes: [Field, number[]][]
}

/** @throws Error a column is missing */
export function headerOf(row: string[], columns: Columns): Header {
  const titles = row.map(titleOf)
  const indexesOf = (field: Field): number[] => {
    const whole = titles.findIndex((title) => isTitleOf(field, title, columns))
    if (whole >= 0) return [whole]
    const parts = field === 'name' && columns.name === undefined ? PARTS : []
    const found = parts.map((part) => titles.findIndex((title) => part.test(title)))
    const known = found.filter((index) => index >= 0)
    if (known.length > 0 || columns[field] === '' || !REQUIRED.includes(field)) return known
    throw new Error(
      `no column is titled \`${columns[field] ?? field}\` (--${field}-column names one); the titles are: ${row.join(', ')}`,
    )
  }
  const indexes = FIELDS.map((field): [Field, number[]] => [field, indexesOf(field)])
  const least = Math.max(...indexes.flatMap(([, columns]) => columns)) + 1
  return { width: row.length, least, indexes }
}

/** The separator with which `line` has the most known titles, or else the most titles. */
export function separatorOf(line: string, columns: Columns): string {
  const isKnown = (title: string) =>
    FIELDS.some((field) => isTitleOf(field, title, columns)) ||
    PARTS.some((part) => part.test(title))
  const score = (separator: string): number => {
    const titles = line.split(separator).map(titleOf)
    return titles.filter(isKnown).length * 1_000 + titles.length
  }
  return [',', ';', '\t', '|'].toSorted((a, b) => score(b) - score(a))[0]!
}

function isTitleOf(field: Field, title: string, columns: Columns): boolean {
  const asked = columns[field]
  return asked === undefined ? TITLES[field].test(title) : asked !== '' && title === titleOf(asked)
}

/** `"E-Mail_Address"` is `e mail address`. */
const titleOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/["\s_-]+/g, ' ')
    .trim()
