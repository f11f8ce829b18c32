// The titles of a CSV file: what separates them, and which column has which field.
import type { User } from '../../src/store/user-store.ts'

/** The titles that a column may have, best first. See `normalize` and `stem` for what makes no difference. */
const TITLES = {
  id: 'id',
  name:
    'name, full name, display name, vollständiger Name, Vor- und Nachname, nom complet, nom et prénom, ' +
    'prénom et nom, nombre completo, nombre y apellidos, apellidos y nombre, ' +
    '氏名, お名前, 名前, 姓名, フルネーム, 表示名',
  email:
    'email, email address, primary email, email 1 value, mail, mail address, E-Mail-Adresse, Mailadresse, ' +
    'courriel, mél, adresse e-mail, adresse mail, adresse électronique, adresse de messagerie, ' +
    'correo, correo electrónico, dirección de correo electrónico, ' +
    'メールアドレス, E-mailアドレス, Eメールアドレス, Eメール, 電子メールアドレス, 電子メール, メール',
} satisfies Record<keyof User, string>

/** The columns that together are the name when no column has the full name, in this order. */
const NAME_PARTS = {
  'last name, before the first': '姓, 名字, 苗字',
  'first name': 'first name, given name, forename, first, Vorname, prénom, nombre, 名, 名前',
  'middle name': 'middle name, additional name, zweiter Vorname, deuxième prénom, segundo nombre',
  'last name':
    'last name, family name, surname, last, Nachname, Familienname, Zuname, Name (beside Vorname), ' +
    'Geburtsname, nom de famille, nom, nom d’usage, nom de naissance, ' +
    'apellido, primer apellido, 1er apellido, apellido 1, apellido paterno',
  'second last name': 'segundo apellido, 2º apellido, apellido 2, apellido materno',
}

/** All titles that are known, a line for each field. */
export const KNOWN_TITLES = Object.entries({ ...TITLES, ...NAME_PARTS })
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
  minWidth: number
  indexes: [Field, number[]][]
  /** Such as `name: Vorname, Nachname; email: E-Mail; not used: Telefon`. */
  summary: string
}

/** @throws Error a column is missing */
export function headerOf(row: string[], columns: Columns): Header {
  const words = row.map(normalize)
  const displayed = row.map((title, i) => title.replaceAll(/\s+/g, ' ') || `column ${i + 1}`)
  const fail = (advice: string) => new Error(`${advice}; the titles are: ${displayed.join(', ')}`)
  const indexesOf = (field: Field): number[] => {
    const given = columns[field]
    if (given === undefined) return knownIndexes([words, row.map(stem)], field)
    return titlesIn(given).map((title) => {
      const index = row.includes(title) ? row.indexOf(title) : words.indexOf(normalize(title))
      if (index < 0) throw fail(`no column is titled \`${title}\``)
      return index
    })
  }
  const indexes = FIELDS.map((field): [Field, number[]] => [field, indexesOf(field)])
  const used = indexes.flatMap(([, ofField]) => ofField)
  const isMissing = ([field, ofField]: [Field, number[]]) =>
    ofField.length === 0 && columns[field] === undefined && REQUIRED.includes(field)
  const missing = indexes.find(isMissing)?.[0]
  if (missing) throw fail(used.length === 0 ? NO_TITLES : missingTitle(missing))
  const unused = [...row.keys()].filter((index) => !used.includes(index))
  const summary = [...indexes, ['not used', unused] as const]
    .filter(([, ofField]) => ofField.length > 0)
    .map(([field, ofField]) => `${field}: ${ofField.map((index) => displayed[index]).join(', ')}`)
    .join('; ')
  return { width: row.length, minWidth: Math.max(...used) + 1, indexes, summary }
}

const NO_TITLES =
  'no column is recognized: give the titles with --name-column and --email-column, or, if the file has none, add a line such as `name,email` above it'
const missingTitle = (field: Field) =>
  `no column is recognized as the ${field}: give its title with --${field}-column, or '' if there is none`

function knownIndexes(variants: string[][], field: Field): number[] {
  const fullName = bestIndex(variants, TITLES[field])
  if (field !== 'name') return fullName
  const parts = Object.values(NAME_PARTS).map((titles) => bestIndex(variants, titles))
  const [family, first, ...rest] = parts
  const stems = variants[1]!
  const isFirstName = family!.length > 0 && first![0] === fullName[0] // `苗字,名前`
  if (fullName.length === 0 || isFirstName) return parts.flat()
  if (stems[fullName[0]!] !== 'name') return fullName
  if (stems.includes('vorname')) return parts.flat()
  return first!.length > 0 ? fullName : [...new Set([fullName, ...rest].flat())] // `Name;Surname`
}

/** The index of the best of the titles that is there, if any. */
function bestIndex(variants: string[][], titles: string): number[] {
  const known = normalizeAll(titles)
  const indexes = variants.flatMap((words) => known.map((title) => words.indexOf(title)))
  return indexes.filter((index) => index >= 0).slice(0, 1)
}

/** The separator with which `line` has the most known titles, or else the most titles. */
export function separatorOf(line: string, columns: Columns): string {
  const given = Object.values(columns).flatMap(titlesIn).map(normalize)
  const titles = Object.values({ ...TITLES, ...NAME_PARTS }).flatMap(normalizeAll)
  const known = new Set([...titles, ...given])
  const score = (separator: string): number => {
    const titles = line.split(separator)
    const isKnown = (title: string) => known.has(normalize(title)) || known.has(stem(title))
    return titles.filter(isKnown).length * 1_000 + titles.length
  }
  return [',', ';', '\t', '|'].toSorted((a, b) => score(b) - score(a))[0]!
}

const titlesIn = (given: string | string[] = []): string[] => [given].flat().filter(Boolean)

const normalizeAll = (titles: string): string[] =>
  titles
    .replaceAll(/ \([^()]*\)/g, '')
    .split(',')
    .map(normalize)

/** Normalizing n accents takes n² steps; a known title has at most 45 characters. */
const MAX_TITLE_LENGTH = 200

/**
 * `"E-Mail_Adréssen"` is `emailadresse`, `Nachname(n)` is `nachname`, `1er apellido` is `1apellido`, and a character
 * of half or full width is the usual one.
 */
const normalize = (title: string): string =>
  title
    .slice(0, MAX_TITLE_LENGTH)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/(\d)\p{L}{1,3}(?!\p{L})/gu, '$1')
    .replaceAll(/[\u0300-\u036f]|\(\p{L}{1,2}\)|["'’\s_.:*-]/gu, '')
    .replace(/(?<=...)[ns]$/, '')

/** `E-Mail-Adresse 1 (privat)` is `emailadresse`. */
const stem = (title: string): string => normalize(title.replaceAll(/\d+|\([^()]*\)/g, ''))
