// Which columns of a file are meant: its titles say so, or templates do. Knows no other titles.
import type { User } from '../../../src/store/user-store.ts'
import { newUser } from '../../../src/users.ts'
import { UsageError } from '../program.ts'

/** The fields of a user, in the order of an export. */
export const FIELDS = ['id', ...Object.keys(newUser({ name: '', email: '' }))] as (keyof User)[]

/** The titles of a template in lower case, a text before each of them, and a text at the end. */
export type Template = ReturnType<typeof parseTemplate>

/**
 * @param template such as `{First Name} {Last Name}`
 * @throws UsageError it has no titles in braces, and is not empty
 */
export function parseTemplate(field: string, template: string) {
  if (!/^(([^{}]*\{[^{}]*\})+[^{}]*)?$/.test(template))
    throw new UsageError(`--${field} ${template}: write titles in braces`)
  const parts = template.split(/\{([^{}]*)\}/) // a text, a title, a text, a title, a text
  const titles = parts.filter((_, i) => i % 2 === 1).map((title) => plain(title).toLowerCase())
  return { field, titles, texts: parts.filter((_, i) => i % 2 === 0) }
}

/**
 * Finds the columns that are meant.
 *
 * @param templates if there are any, only what they name is used
 * @returns a function that finds the fields in the values of a row; or what is wrong
 */
export function columnsOf(titles: string[], templates: Template[]) {
  if (titles.length > 16_384) return 'it has more columns than a spreadsheet can have'
  const names = namesOf(titles).map((name) => name.toLowerCase())
  if (templates.length > 0) return columnsIn(names, templates)
  const fields = names.map((name) => name.replace(/^_id$/, 'id'))
  const areKnown = fields.every((field) => FIELDS.includes(field as keyof User))
  const isWhole = fields.includes('name') && fields.includes('email')
  if (!areKnown || !isWhole) return 'its columns are not name, email and perhaps id'
  const own = fields.map((field) => parseTemplate(field, `{${field}}`))
  return columnsIn(fields, own)
}

function columnsIn(names: string[], templates: Template[]) {
  for (const title of templates.flatMap(({ titles }) => titles)) {
    const count = names.filter((name) => name === title).length
    if (count === 0) return `it has no column {${title}}`
    if (count > 1) return `{${title}} is the title of ${count} columns, letter case aside`
  }
  const fillers = templates.map(({ field, titles, texts }) => {
    const columns = titles.map((title) => names.indexOf(title))
    return (values: unknown[]) => [field, fill(field, texts, columns, values)]
  })
  return (values: unknown[]): Partial<User> => Object.fromEntries(fillers.map((one) => one(values)))
}

/** Leaves out a part that is empty, with the text before it. @throws Error a value is not a text */
function fill(field: string, texts: string[], columns: number[], values: unknown[]): string {
  let filled = ''
  for (const [i, column] of columns.entries()) {
    const value = values[column]
    const part = (field === 'id' ? idIn(value) : value) ?? ''
    if (typeof part !== 'string') throw new Error('a value that is used is not a text')
    if (part) filled += (filled || i === 0 ? texts[i]! : '') + part
  }
  return filled && filled + texts.at(-1)!
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

const HOW = `Say which are meant: --name '{First Name} {Last Name}' --email '{E-mail Address}'
A CSV file begins with its titles: delete lines before them, or add a first line such as name,email.`

function shown(value: unknown): string {
  if (typeof value === 'string') return plain(value.slice(0, 60))
  return typeof value === 'object' && value ? '{…}' : JSON.stringify(value)
}
