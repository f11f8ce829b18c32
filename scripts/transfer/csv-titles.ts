// The titles of a CSV file: what separates them, and which column has which field.
import type { User } from '../../src/store/user-store.ts'

/** The titles that a column may have, best first. See `wordOf` and `rootOf` for what makes no difference. */
const TITLES = {
  id: 'id',
  name:
    'name, full name, display name, vollständiger Name, Vor- und Nachname, nom complet, nom et prénom, ' +
    'prénom et nom, nombre completo, nombre y apellidos, apellidos y nombre',
  email:
    'email, email address, primary email, email 1 value, mail, mail address, E-Mail-Adresse, Mailadresse, ' +
    'courriel, mél, adresse e-mail, adresse mail, adresse électronique, adresse de messagerie, ' +
    'correo, correo electrónico, dirección de correo electrónico',
} satisfies Record<keyof User, string>

/** The columns that together are the name when no column has the whole name, in this order. */
const PARTS = {
  'first name': 'first name, given name, forename, first, Vorname, prénom, nombre',
  'middle name': 'middle name, additional name, zweiter Vorname, deuxième prénom, segundo nombre',
  'last name':
    'last name, family name, surname, last, Nachname, Familienname, Zuname, Name (beside Vorname), ' +
    'Geburtsname, nom de famille, nom, nom d’usage, nom de naissance, ' +
    'apellido, primer apellido, 1er apellido, apellido 1, apellido paterno',
  'second last name': 'segundo apellido, 2º apellido, apellido 2, apellido materno',
}

/** All titles that are known, a line for each field. */
export const KNOWN_TITLES = Object.entries({ ...TITLES, ...PARTS })
  .map(([column, titles]) => `  ${column}: ${titles.replaceAll(/(.{70,}?), /g, '$1,\n    ')}`)
  .join('\n')

type Field = keyof typeof TITLES
export const FIELDS = Object.keys(TITLES) as Field[]
const REQUIRED: Field[] = ['name', 'email']

/** The titles of a field's columns in this file; empty if there is no such column. */
export type Columns = { [F in Field]?: string | string[] | undefined }

/** How many columns there are, how many a record needs, and the indexes of each field's columns. */
export interface Header {
  width: number
  least: number
  indexes: [Field, number[]][]
  /** Such as `name: Vorname, Nachname; email: E-Mail; not used: Telefon`. */
  summary: string
}

/** @throws Error a column is missing */
export function headerOf(row: string[], columns: Columns): Header {
  const words = row.map(wordOf)
  const shown = row.map((title, i) => title.replaceAll(/\s+/g, ' ') || `column ${i + 1}`)
  const fail = (advice: string) => new Error(`${advice}; the titles are: ${shown.join(', ')}`)
  const indexesOf = (field: Field): number[] => {
    const asked = columns[field]
    if (asked === undefined) return knownIndexes([words, row.map(rootOf)], field)
    return titlesIn(asked).map((title) => {
      const index = row.includes(title) ? row.indexOf(title) : words.indexOf(wordOf(title))
      if (index < 0) throw fail(`no column is titled \`${title}\``)
      return index
    })
  }
  const indexes = FIELDS.map((field): [Field, number[]] => [field, indexesOf(field)])
  const found = indexes.flatMap(([, some]) => some)
  const isMissing = ([field, some]: [Field, number[]]) =>
    some.length === 0 && columns[field] === undefined && REQUIRED.includes(field)
  const missing = indexes.find(isMissing)?.[0]
  if (missing) throw fail(found.length === 0 ? NO_TITLES : noTitle(missing))
  const unused = [...row.keys()].filter((index) => !found.includes(index))
  const summary = [...indexes, ['not used', unused] as const]
    .filter(([, some]) => some.length > 0)
    .map(([what, some]) => `${what}: ${some.map((index) => shown[index]).join(', ')}`)
  return { width: row.length, least: Math.max(...found) + 1, indexes, summary: summary.join('; ') }
}

const NO_TITLES =
  'no title in the first line is known: give the titles with --name-column and --email-column, or, if the file has none, add a line such as `name,email` above it'
const noTitle = (field: Field) =>
  `no title is known as that of the ${field}: give it with --${field}-column, or '' if there is none`

function knownIndexes(readings: string[][], field: Field): number[] {
  const whole = bestIndex(readings, TITLES[field])
  if (field !== 'name') return whole
  const parts = Object.values(PARTS).map((titles) => bestIndex(readings, titles))
  const roots = readings[1]!
  if (whole.length === 0) return parts.flat()
  if (roots[whole[0]!] !== 'name') return whole
  if (roots.includes('vorname')) return parts.flat()
  const [first, ...rest] = parts
  return first!.length > 0 ? whole : [...new Set([whole, ...rest].flat())] // `Name;Surname`
}

/** The index of the best of the titles that is there, if any. */
function bestIndex(readings: string[][], titles: string): number[] {
  const indexes = readings.flatMap((words) => wordsOf(titles).map((word) => words.indexOf(word)))
  return indexes.filter((index) => index >= 0).slice(0, 1)
}

/** The separator with which `line` has the most known titles, or else the most titles. */
export function separatorOf(line: string, columns: Columns): string {
  const asked = Object.values(columns).flatMap(titlesIn).map(wordOf)
  const known = new Set([...Object.values({ ...TITLES, ...PARTS }).flatMap(wordsOf), ...asked])
  const score = (separator: string): number => {
    const titles = line.split(separator)
    const isKnown = (title: string) => known.has(wordOf(title)) || known.has(rootOf(title))
    return titles.filter(isKnown).length * 1_000 + titles.length
  }
  return [',', ';', '\t', '|'].toSorted((a, b) => score(b) - score(a))[0]!
}

const titlesIn = (asked: string | string[] = []): string[] => [asked].flat().filter(Boolean)

const wordsOf = (titles: string): string[] =>
  titles
    .replaceAll(/ \(.*?\)/g, '')
    .split(',')
    .map(wordOf)

/** `"E-Mail_Adréssen"` is `emailadresse`, `Nachname(n)` is `nachname`, and `1er apellido` is `1apellido`. */
const wordOf = (title: string): string =>
  title
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/(\d)\p{L}{1,3}(?!\p{L})/gu, '$1')
    .replaceAll(/[\u0300-\u036f]|\(\p{L}{1,2}\)|["'’\s_.:*-]/gu, '')
    .replace(/(?<=...)[ns]$/, '')

/** `E-Mail-Adresse 1 (privat)` is `emailadresse`. */
const rootOf = (title: string): string => wordOf(title.replaceAll(/\d+|\(.*?\)/g, ''))
