// The titles of a CSV file: what separates them, and which column has which field.
import type { User } from '../../src/store/user-store.ts'

/** The titles that a column may have, best first. See `wordOf` for what makes no difference. */
const TITLES = {
  id: 'id',
  name: 'name, full name, display name, vollständiger Name, nom complet, nombre completo',
  email:
    'email, email address, primary email, email 1 value, mail, mail address, E-Mail-Adresse, Mailadresse, ' +
    'courriel, adresse e-mail, adresse mail, adresse électronique, adresse de messagerie, ' +
    'correo, correo electrónico, dirección de correo electrónico',
} satisfies Record<keyof User, string>

/** The columns that together are the name when no column has the whole name, in this order. */
const PARTS = {
  'first name': 'first name, given name, forename, Vorname, prénom, nombre',
  'middle name': 'middle name, additional name, zweiter Vorname, deuxième prénom, segundo nombre',
  'last name':
    'last name, family name, surname, Nachname, Familienname, Zuname, Name (beside Vorname), ' +
    'nom de famille, nom, nom d’usage, nom de naissance, apellidos, apellido, primer apellido',
  'second last name': 'segundo apellido',
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
}

/** @throws Error a column is missing */
export function headerOf(row: string[], columns: Columns): Header {
  const words = row.map(wordOf)
  const fail = (advice: string) => new Error(`${advice}; the titles are: ${row.join(', ')}`)
  const indexesOf = (field: Field): number[] => {
    const asked = columns[field]
    if (asked === undefined) return knownIndexes(words, field)
    return titlesIn(asked).map((title) => {
      const index = words.indexOf(wordOf(title))
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
  return { width: row.length, least: Math.max(...found) + 1, indexes }
}

const NO_TITLES =
  'no title in the first line is known: give the titles with --name-column and --email-column, or, if the file has none, add a line such as `name,email` above it'
const noTitle = (field: Field) =>
  `no title is known as that of the ${field}: give it with --${field}-column, or '' if there is none`

function knownIndexes(words: string[], field: Field): number[] {
  const whole = bestIndex(words, TITLES[field])
  const isInParts = field === 'name' && (whole.length === 0 || words.includes('vorname'))
  return isInParts ? Object.values(PARTS).flatMap((titles) => bestIndex(words, titles)) : whole
}

/** The index of the best of the titles that is there, if any. */
function bestIndex(words: string[], titles: string): number[] {
  const indexes = wordsOf(titles).map((word) => words.indexOf(word))
  return indexes.filter((index) => index >= 0).slice(0, 1)
}

/** The separator with which `line` has the most known titles, or else the most titles. */
export function separatorOf(line: string, columns: Columns): string {
  const asked = Object.values(columns).flatMap(titlesIn).map(wordOf)
  const known = new Set([...Object.values({ ...TITLES, ...PARTS }).flatMap(wordsOf), ...asked])
  const score = (separator: string): number => {
    const words = line.split(separator).map(wordOf)
    return words.filter((word) => known.has(word)).length * 1_000 + words.length
  }
  return [',', ';', '\t', '|'].toSorted((a, b) => score(b) - score(a))[0]!
}

const titlesIn = (asked: string | string[] = []): string[] => [asked].flat().filter(Boolean)

const wordsOf = (titles: string): string[] =>
  titles
    .replaceAll(/ \(.*?\)/g, '')
    .split(',')
    .map(wordOf)

/** `"E-Mail_Adrésse"` is `emailadresse`. */
const wordOf = (title: string): string =>
  title
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]|["'’\s_-]/g, '')
