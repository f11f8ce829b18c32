// Which columns of a file are meant: its titles say so, or templates do. Knows no other titles.
import { COLUMNS } from '../../../src/store/sqlite/schema.ts'
import type { User } from '../../../src/store/user-store.ts'
import { UsageError } from '../program.ts'
import type { Texts } from './lines.ts'

/** The fields of a user, in the order of an export, with those that only the service sets. */
export const FIELDS = Object.keys(COLUMNS) as (keyof User)[]

/** The field of a template, its titles in lower case, and the text before each of them. */
export type Template = ReturnType<typeof parseTemplate>

/**
 * @param template such as `{First Name} {Last Name}`
 * @throws UsageError it has other text than titles in braces, and blanks and commas between them
 */
export function parseTemplate(field: keyof User, template: string) {
  if (!/^(\{[^{}]*\}([\p{Zs},]*\{[^{}]*\})*)?$/u.test(template))
    throw new UsageError(`--${field} ${template}: ${TITLES_ONLY}`)
  const parts = [...template.matchAll(/([^{}]*)\{([^{}]*)\}/g)]
  const titles = parts.map(([, , title]) => plain(title!).toLowerCase())
  return { field, titles, texts: parts.map(([, text]) => text!) }
}

const TITLES_ONLY = `write titles in braces, with only blanks and commas between them. Put other text into the file first, for example with jq.`

/**
 * Finds the columns that are meant.
 *
 * @param templates if there are any, only what they name is used
 * @param hasPlaces whether a template may also name the third column `column 3`
 * @returns a function that finds the fields in the values of a row; or what is wrong
 */
export function columnsOf(titles: string[], templates: Template[], hasPlaces = true) {
  if (titles.length > 16_384) return 'it has more columns than a spreadsheet can have'
  const names = namesOf(titles).map((name) => name.toLowerCase())
  if (templates.length > 0) return columnsIn(names, templates, hasPlaces)
  const known = names.map((name) => name.replace(/^_id$/, 'id'))
  const fields = known.flatMap((name) => FIELDS.find((field) => field.toLowerCase() === name) ?? [])
  const isWhole = fields.includes('name') && fields.includes('email')
  if (fields.length < known.length || !isWhole)
    return 'its columns are not name, email and perhaps id'
  const byTitle = fields.map((field) => parseTemplate(field, `{${field}}`))
  return columnsIn(known, byTitle, hasPlaces)
}

function columnsIn(names: string[], templates: Template[], hasPlaces: boolean) {
  const places = names.map((_, i) => `column ${i + 1}`)
  const all = hasPlaces ? [...names, ...places] : names // a title comes before a place
  const columnOf = (title: string) => all.indexOf(title) % names.length
  const meant = templates.flatMap(({ field, titles }) => titles.map((title) => ({ field, title })))
  for (const { field, title } of meant) {
    if (!all.includes(title)) return `it has no column {${title}}`
    const same = places.filter((_, i) => names[i] === title)
    if (same.length > 1)
      return `{${title}} is the title of {${same.join('} and {')}}, letter case aside`
    if (field === 'email' && HAS_EMAIL.test(names[columnOf(title)]!))
      return 'its first line has an email, and must have titles'
  }
  const fillers = templates.map(({ field, titles, texts }) => {
    const columns = titles.map(columnOf)
    return (values: unknown[]) => [field, fill(field, texts, columns, values)]
  })
  return (values: unknown[]): Texts => Object.fromEntries(fillers.map((filler) => filler(values)))
}

/** Also with a number or a name beside it, as `a@x (2)`. */
const HAS_EMAIL = /[^\s@]@[^\s@]/

/** Leaves out a part that is empty, and the text before the first part. @throws Error a value is not a text */
function fill(field: string, texts: string[], columns: number[], values: unknown[]): string {
  let filled = ''
  for (const [i, column] of columns.entries()) {
    const part = (field === 'id' ? idIn(values[column]) : values[column]) ?? ''
    if (typeof part !== 'string') throw new Error(`its ${field} is not a text`)
    if (part) filled += (filled && texts[i]!) + part
  }
  return filled
}

/** An id as text, also as MongoDB's programs write it. For any other value, the name of its type, which is no id. */
function idIn(value: unknown): string {
  const id = (value as { $oid?: unknown } | null)?.$oid ?? value ?? ''
  return typeof id === 'string' ? id : typeof id
}

/** What templates call the columns: the second `Email` is `Email (2)`, a column without a title `column 3`. */
function namesOf(titles: string[]): string[] {
  const counts = new Map<string, number>()
  return titles.map((title, i) => {
    const name = plain(title)
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    if (name === '' || /[{}]/.test(name)) return `column ${i + 1}`
    return count === 1 ? name : `${name} (${count})`
  })
}

/** A title in one line. */
const plain = (title: string): string => title.replaceAll(/\s+/g, ' ').trim()

/** What is wrong, the columns beside the values of the first record, and how to say which are meant. */
export function wrongColumns(problem: string, titles: string[], values: unknown[] = []) {
  const names = namesOf(titles.slice(0, 1000)).map((name) => `  {${name}}`.padEnd(24))
  const columns = names.map((name, i) => `${name} ${shown(values[i] ?? '')}`)
  return new UsageError([`${problem}:`, ...columns, HOW].join('\n'))
}

const HOW = `Name the columns: --name '{First Name} {Last Name}' --email '{E-mail Address}'
A CSV file begins with its titles: delete lines before them, or add a first line such as name,email.`

function shown(value: unknown): string {
  if (typeof value === 'string') return plain(value.slice(0, 60))
  return typeof value === 'object' && value ? '{…}' : JSON.stringify(value)
}
