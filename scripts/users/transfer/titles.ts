// The titles in a file, of the columns of CSV or the keys of JSON: which of them has which field of a user.
import type { User } from '../../../src/store/user-store.ts'
import { MAX_FIELDS } from './lines.ts'

/** The titles that a field may have, best first. See `normalize` and `stem` for what makes no difference. */
const TITLES = {
  id: 'id',
  name:
    'name, full name, display name, vollständiger Name, Vor- und Nachname, nom complet, nom et prénom, ' +
    'prénom et nom, nombre completo, nombre y apellidos, apellidos y nombre, ' +
    '氏名, お名前, 名前, 姓名, フルネーム, 表示名',
  email:
    'email, email address, primary email, user email, email 1 value, mail, mail address, ' +
    'E-Mail-Adresse, Mailadresse, ' +
    'courriel, mél, adresse e-mail, adresse mail, adresse électronique, adresse de messagerie, ' +
    'correo, correo electrónico, dirección de correo electrónico, ' +
    'メールアドレス, E-mailアドレス, Eメールアドレス, Eメール, 電子メールアドレス, 電子メール, メール, ' +
    '邮箱, 电子邮箱, 电子邮件',
} satisfies Record<keyof User, string>

/** The columns that together are the name when no column has the full name, in this order. */
const NAME_PARTS = {
  'last name, before the first': '姓, 名字, 苗字',
  'first name':
    'first name, given name, forename, first, Vorname, prénom, nombre, nome, voornaam, förnamn, fornavn, ' +
    '名, 名前',
  'middle name':
    'tussenvoegsel, middle name, additional name, zweiter Vorname, deuxième prénom, segundo nombre',
  'last name':
    'last name, family name, surname, last, second name, family, sn, Nachname, Familienname, Zuname, Geburtsname, ' +
    'Name (beside a first name), nom de famille, nom, nom d’usage, nom de naissance, ' +
    'cognome, achternaam, sobrenome, efternamn, efternavn, ' +
    'apellido, primer apellido, 1er apellido, apellido 1, apellido paterno',
  'second last name': 'segundo apellido, 2º apellido, apellido 2, apellido materno',
}

/** All titles that are known, a line for each field. */
export const KNOWN_TITLES = Object.entries({ ...TITLES, ...NAME_PARTS })
  .map(([column, titles]) => `  ${column}: ${titles.replaceAll(/(.{70,}?), /g, '$1,\n    ')}`)
  .join('\n')

export type Field = keyof typeof TITLES
export const FIELDS = Object.keys(TITLES) as Field[]
const REQUIRED: Field[] = ['name', 'email']

/** The titles that were chosen for a field; empty if the file does not have the field. */
export type Columns = { [F in Field]?: string | string[] | undefined }

/** What the titles of a record are for. */
export interface Header {
  titles: string[]
  chosen: Columns
  /** The indexes of each field: those that together are it, then those that are it where the former are empty. */
  indexes: Map<Field | 'not used', number[][]>
  /** How many values a record must have. */
  minWidth: number
  /** What is wrong if a chosen title is not there, or none is known for the name or the email. */
  problem: string | undefined
}

/** @param row the titles; the second `Email` gets the title `Email (2)` */
export function headerOf(row: string[], chosen: Columns): Header {
  const titles = row.map((title, i) => {
    const count = row.slice(0, i).filter((other) => other === title).length
    return title && count > 0 ? `${title} (${count + 1})` : title
  })
  const words = titles.map(normalize)
  const stems = titles.map(stem)
  const indexOf = (title: string) =>
    titles.includes(title) ? titles.indexOf(title) : words.indexOf(normalize(title))
  const indexesOf = (field: Field): number[][] => {
    const given = titlesIn(chosen[field]).map(indexOf)
    if (chosen[field] !== undefined) return [given.filter((index) => index >= 0)]
    return knownIndexes([words, stems], field)
  }
  const indexes: Header['indexes'] = new Map(FIELDS.map((field) => [field, indexesOf(field)]))
  const used = new Set([...indexes.values()].flat(2))
  indexes.set('not used', [[...titles.keys()].filter((index) => !used.has(index))])
  const absent = Object.values(chosen)
    .flatMap(titlesIn)
    .find((title) => indexOf(title) < 0)
  const missing = REQUIRED.find(
    (field) => chosen[field] === undefined && indexes.get(field)!.flat().length === 0,
  )
  const advice = missing && (used.size === 0 ? NO_TITLES : missingTitle(missing))
  const wrong = absent === undefined ? advice : `titled \`${absent}\``
  const doubtful = wrong && `no column is ${wrong}; the titles are: ${listed(titles)}`
  const problem = doubtful ?? problemOfAlike(titles, chosen, indexes)
  return { titles, chosen, indexes, minWidth: Math.max(-1, ...used) + 1, problem }
}

/** What is wrong if a title that is only similar to a known one has others like it: `Name (First)`, `Name (Last)`. */
function problemOfAlike(titles: string[], chosen: Columns, indexes: Header['indexes']) {
  for (const field of REQUIRED) {
    const [index = -1] = indexes.get(field)!.flat()
    const title = titles[index]
    if (chosen[field] !== undefined || title === undefined || KNOWN.has(normalize(title))) continue
    const others = titles.filter((other) => isAlike(title, other))
    if (others.length > 0)
      return `${listed([title, ...others])} are alike: choose with --${field}-column`
  }
  return undefined
}

/** Titles that differ by a number only, such as `E-Mail 1` and `E-Mail 2`, are not: the first is used. */
const isAlike = (title: string, other: string): boolean =>
  stem(title) === stem(other) && withoutNumbers(title) !== withoutNumbers(other)

const withoutNumbers = (title: string): string => title.replaceAll(/\d+/g, '')

const NO_TITLES =
  'recognized: delete the lines above the titles, if there are any; if the file has no titles, add a line such as ' +
  '`name,email`; or give the titles with --name-column and --email-column'
const missingTitle = (field: Field) =>
  `recognized as the ${field}: give its title with --${field}-column, or '' if there is none`

function knownIndexes(variants: string[][], field: Field): number[][] {
  const fullName = bestIndex(variants, TITLES[field])
  if (field !== 'name') return [fullName]
  const parts = Object.values(NAME_PARTS).map((titles) => bestIndex(variants, titles))
  const [family = [], first = [], middle = [], last = [], second = []] = parts
  const joined = [...new Set(parts.flat())]
  const stems = variants[1]!
  const isFirstName = family.length > 0 && first[0] === fullName[0] // `苗字,名前`
  if (fullName.length === 0 || isFirstName) return [joined]
  if (stems[fullName[0]!] !== 'name') return [fullName, joined]
  const isLastName = first.length > 0 && last[0] === fullName[0] // `Name;First name`
  if (isLastName || stems.includes('vorname')) return [joined, fullName]
  const isSimilar = !normalizeAll(TITLES.name).includes(variants[0]![fullName[0]!]!) // `Name (Company)`
  if (first.length > 0) return isSimilar ? [joined, fullName] : [fullName, joined]
  const others = last.length > 0 ? [...middle, ...last, ...second] : []
  return [[...new Set([...fullName, ...others])]] // `Name;Surname`
}

/** The index of the best of the titles that is there, if any. */
function bestIndex(variants: string[][], titles: string): number[] {
  const known = normalizeAll(titles)
  const indexes = variants.flatMap((words) => known.map((title) => words.indexOf(title)))
  return indexes.filter((index) => index >= 0).slice(0, 1)
}

/** Such as `name: Vorname, Nachname; email: E-Mail; not used: Telefon`. */
export function summaryOf(headers: Header[]): string {
  const parts = [...FIELDS, 'not used' as const].map((what) => {
    const used = headers.flatMap(({ titles, indexes }) =>
      indexes
        .get(what)!
        .flat()
        .map((index) => displayed(titles[index]!, index)),
    )
    return used.length > 0 ? `${what}: ${listed([...new Set(used)])}` : ''
  })
  return parts.filter(Boolean).join('; ')
}

const listed = (titles: string[]): string =>
  titles.slice(0, 100).map(displayed).join(', ') + (titles.length > 100 ? ', …' : '')

const displayed = (title: string, index: number): string =>
  title.slice(0, MAX_TITLE_LENGTH).replaceAll(/\s+/g, ' ') || `column ${index + 1}`

/** The separator with which `line` has the most known titles, or else the most titles. */
export function separatorOf(line: string, chosen: Columns): string {
  const given = new Set(Object.values(chosen).flatMap(titlesIn).map(normalize))
  const score = (separator: string): number => {
    const titles = line.split(separator, MAX_FIELDS)
    const isGiven = (title: string) => isKnownTitle(title) || given.has(normalize(title))
    return titles.filter(isGiven).length * 100_000 + titles.length
  }
  return [',', ';', '\t', '|'].toSorted((a, b) => score(b) - score(a))[0]!
}

export const isKnownTitle = (title: string): boolean =>
  KNOWN.has(normalize(title)) || KNOWN.has(stem(title))

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
 * of half or full width is the usual one. Only letters and digits count.
 */
const normalize = (title: string): string =>
  title
    .slice(0, MAX_TITLE_LENGTH)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/(\d)\p{L}{1,3}(?!\p{L})/gu, '$1')
    .replaceAll(/\([a-z]{1,2}\)|[^\p{L}\p{N}]/gu, '')
    .replace(/(?<=...)[ns]$/, '')

/** `E-Mail-Adresse 1 (privat)` and `E-Mail-Adresse [Required]` are `emailadresse`. */
const stem = (title: string): string =>
  normalize(title.replaceAll(/\d+|\([^()]*\)|\[[^[\]]*\]|\b(required|optional)\b/gi, ''))

const KNOWN = new Set(Object.values({ ...TITLES, ...NAME_PARTS }).flatMap(normalizeAll))
