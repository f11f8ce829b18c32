// The titles in a file, of the columns of CSV or the keys of JSON: which of them has which field of a user.
import type { User } from '../../../src/store/user-store.ts'
import { MAX_FIELDS } from './lines.ts'

/** The titles that a field may have, best first. See `normalize` and `stem` for what makes no difference. */
const TITLES = {
  id: 'id',
  name:
    'full name, display name, complete name, vollständiger Name, Vor- und Nachname, Anzeigename, ' +
    'nom complet, nom et prénom, prénom et nom, nom à afficher, ' +
    'nombre completo, nombre y apellidos, apellidos y nombre, nome completo, nome e cognome, volledige naam, ' +
    '氏名, お名前, 姓名, フルネーム, 表示名',
  email:
    'email, email address, primary email, user email, email 1 value, internet address, mail, mail address, ' +
    'E-Mail-Adresse, Mailadresse, ' +
    'courriel, mél, adresse e-mail, adresse mail, adresse électronique, adresse de messagerie, ' +
    'correo, correo electrónico, dirección de correo electrónico, ' +
    'endereço de e-mail, indirizzo e-mail, e-postadresse, adreça electrònica, ' +
    'メールアドレス, E-mailアドレス, Eメールアドレス, Eメール, 電子メールアドレス, 電子メール, メール, ' +
    '邮箱, 电子邮箱, 电子邮件',
} satisfies Record<keyof User, string>

const EITHER = 'name, or the part of it that no other column has'

/** The columns that together are the name where no column has the full name. */
const NAME_PARTS = {
  [EITHER]: 'name, nom, nombre, nome, 名前',
  'last name, before the first': '姓, 姓氏, 氏, 苗字, 名字',
  'first name':
    '名, 名字, first name, given name, forename, first, Vorname, prénom, voornaam, förnamn, fornavn, prénom usuel',
  'first name, if there is no other':
    'primer nombre, preferred first name, Rufname, roepnaam, voorletters, initials',
  'middle name':
    'tussenvoegsel, voorvoegsel, middle name, middle, additional name, second name, ' +
    'zweiter Vorname, weitere Vornamen, Vorsatzwort, Namensvorsatz, deuxième prénom, segundo nombre, secondo nome, ' +
    'mellemnavn, mellomnavn, mellannamn, middelste naam',
  'last name':
    'last name, family name, surname, last, second name, family, sn, Nachname, Familienname, Zuname, ' +
    'nom de famille, cognome, cognoms, achternaam, sobrenome, último nome, apelido, efternamn, efternavn, etternavn, ' +
    'apellido, primer apellido, 1er apellido, apellido 1, apellido paterno, paterno',
  'second last name': 'segundo apellido, 2º apellido, apellido 2, apellido materno, materno',
  'last name, if there is no other':
    'nom d’usage, nom patronymique, preferred surname, Geburtsname, nom de naissance',
}

/** All titles that are known, a line for each field. */
export const KNOWN_TITLES = Object.entries({ ...TITLES, ...NAME_PARTS })
  .map(([column, titles]) => `  ${column}: ${titles.replaceAll(/(.{70,}?), /g, '$1,\n    ')}`)
  .join('\n')

export type Field = keyof typeof TITLES
export const FIELDS = Object.keys(TITLES) as Field[]
export const REQUIRED: Field[] = ['name', 'email']

/** The titles that were chosen for a field; empty if the file does not have the field. */
export type Columns = { [F in Field]?: string | string[] | undefined }

/** What the titles of a record are for. */
export interface Header {
  titles: string[]
  chosen: Columns
  ways: Record<Field, Way[]>
  /** The indexes of the columns that no field uses. */
  unused: number[]
  /** Those of them that have no title and follow a column of the name: a part of the name may be in them. */
  untitled: number[]
  /** How many values a record must have. */
  minWidth: number
  /** The columns that have either the full name or a part of it. */
  either: number[]
  /** How many values a record may have: as many as the first one, which may have empty ones after the titles. */
  maxWidth?: number
  /** What is wrong if a chosen title is not there, or none is known for the name or the email. */
  problem: string | undefined
  /** What is wrong if an unused column has a text. */
  doubt: string | undefined
}

/**
 * The parts of a field, which are joined; the next way counts where all of them are empty. Of each part, the indexes of
 * its columns: the first that is not empty counts.
 */
export type Way = number[][]

/** @param row the titles; the second `Email` gets the title `Email (2)` */
export function headerOf(row: string[], chosen: Columns): Header {
  const counts = new Map<string, number>()
  const titles = row.map((title) => {
    const count = (counts.get(title) ?? 0) + 1
    counts.set(title, count)
    return title && count > 1 ? `${title} (${count})` : title
  })
  const order = inOrderOfNumbers(titles)
  const forms = FORMS.map((form) => indexesBy(form, titles, order)) as Forms
  const indexOf = (title: string) =>
    titles.includes(title) ? titles.indexOf(title) : (forms[1].get(normalize(title))?.[0] ?? -1)
  const name = waysOfName(forms)
  const waysOf = (field: Field): Way[] => {
    const given = titlesIn(chosen[field]).map(indexOf)
    if (chosen[field] !== undefined)
      return [given.filter((index) => index >= 0).map((index) => [index])]
    return field === 'name' ? name.ways : [[find(forms, field).slice(0, 1)]]
  }
  const ways = Object.fromEntries(FIELDS.map((field) => [field, waysOf(field)])) as Header['ways']
  const used = new Set(Object.values(ways).flat(3))
  const unused = [...titles.keys()].filter((index) => !used.has(index))
  const { either } = name
  const names = chosen.name === undefined ? ways.name.flat(2) : []
  const untitled = unused.filter((index) => titles[index] === '' && names.includes(index - 1))
  const minWidth = Math.max(-1, ...used) + 1
  const header = { titles, chosen, ways, unused, untitled, either, minWidth }
  const isHalf = chosen.name === undefined && used.size > 0 && !name.isWhole
  return {
    ...header,
    problem: problemOf(header, indexOf) ?? problemOfAlike(header, forms[2]),
    doubt: isHalf ? ONLY_A_PART : undefined,
  }
}

type Titled = Pick<Header, 'titles' | 'chosen' | 'ways' | 'unused'>

/** What is wrong if a chosen title is not there, or none is known for the name or the email. */
function problemOf({ titles, chosen, ways, unused }: Titled, indexOf: (title: string) => number) {
  const absent = Object.values(chosen)
    .flatMap(titlesIn)
    .find((title) => indexOf(title) < 0)
  const missing = REQUIRED.find(
    (field) => chosen[field] === undefined && ways[field].flat(2).length === 0,
  )
  const isNoneKnown = unused.length === titles.length
  const advice = missing && (isNoneKnown ? NO_TITLES : missingTitle(missing))
  const wrong = absent === undefined ? advice : `titled \`${absent}\``
  return wrong && `no column is ${wrong}; the titles are: ${listed(titles)}`
}

/** What is wrong if an unused title is like a used one: `Name (First)` and `Name (Last)`, or `Name 1` and `Name 2`. */
function problemOfAlike({ titles, chosen, ways }: Titled, byStem: Indexes) {
  const used = new Set(Object.values(ways).flat(3))
  for (const field of REQUIRED.filter((one) => chosen[one] === undefined)) {
    for (const index of ways[field].flat(2)) {
      const similar = byStem.get(stem(titles[index]!))!.filter((other) => !used.has(other))
      const others = similar.filter((other) => isAlike(field, titles[index]!, titles[other]!))
      const alike = [index, ...others].map((one) => titles[one]!)
      if (others.length > 0) return `${listed(alike)} are alike: choose with --${field}-column`
    }
  }
  return undefined
}

/** Of titles with the same stem. Of emails with numbers, the first is used. A known title is meant, whatever others have in brackets. */
function isAlike(field: Field, title: string, other: string): boolean {
  if (withoutNumbers(title) === withoutNumbers(other)) return field === 'name'
  return !KNOWN.has(normalize(title))
}

const withoutNumbers = (title: string): string => title.replaceAll(/\(?\d+\)?/g, '').trim()

const NO_TITLES =
  'recognized: delete the lines above the titles, if there are any; if the file has no titles, add a line such as ' +
  '`name,email`; or give the titles with --name-column and --email-column'
const missingTitle = (field: Field) =>
  `recognized as the ${field}: give its title with --${field}-column, or '' if there is none`

const ONLY_A_PART =
  'only a part of the name is recognized: give the title of each part with --name-column'

/**
 * The columns of a name: the full name, else the parts. `Name` is the part that has no column of its own; beside both,
 * it is the full name, except in German.
 *
 * @returns `isWhole` is false if only the first or only the last name is known
 */
function waysOfName(forms: Forms) {
  const full = find(forms, 'name')
  const family = find(forms, 'last name, before the first').slice(0, 1)
  const first = find(forms, 'first name').filter((index) => !family.includes(index))
  const known = find(forms, 'last name')
  const middle = find(forms, 'middle name').filter((index) => index !== known[0])
  const last = known.filter((index) => !middle.includes(index))
  const otherFirst = find(forms, 'first name, if there is no other')
  const otherLast = find(forms, 'last name, if there is no other')
  const hasFirst = first.length > 0
  const hasLast = family.length + last.length > 0
  const either = find(forms, EITHER, hasFirst && hasLast) // beside both, `Name (Company)` is none
  const isPart = either.length > 0 && hasFirst !== hasLast
  const firsts = [...(isPart && !hasFirst ? either : first), ...otherFirst]
  const lasts = [...(isPart && !hasLast ? either : last), ...otherLast]
  const second = find(forms, 'second last name').filter((index) => !last.includes(index))
  const parts = family.length > 0 ? [family, firsts, middle] : [firsts, middle, lasts, second]
  const joined = parts.filter((part) => part.length > 0)
  const isGerman = forms[1].has('vorname')
  const others = isGerman ? [joined, [either]] : [[either], joined]
  return {
    either,
    ways: [[full], ...(isPart ? [joined] : others)],
    isWhole:
      full.length + either.length > 0 || (firsts.length > 0 && family.length + lasts.length > 0),
  }
}

/** The columns with a title of `column`, best first; if there is none, one with a similar title. */
function find([same, normal, stems]: Forms, column: Column, exactly = false): number[] {
  const known = KNOWN_FORMS[column]
  const exact = known.flatMap(([a, b]) => [...(same.get(a) ?? []), ...(normal.get(b) ?? [])])
  if (exact.length > 0 || exactly) return [...new Set(exact)]
  return known.flatMap(([, , c]) => stems.get(c) ?? []).slice(0, 1)
}

type Forms = [Indexes, Indexes, Indexes]
type Indexes = Map<string, number[]>

/** The indexes of the titles: that of `Email 1` before that of `Email 2`. */
function inOrderOfNumbers(titles: string[]): number[] {
  const numbers = titles.map((title) => Number(/\d+/.exec(title)?.[0] ?? 0))
  return [...titles.keys()].toSorted((a, b) => numbers[a]! - numbers[b]!)
}

/** The indexes of the titles with each form, in `order`. */
function indexesBy(form: (title: string) => string, titles: string[], order: number[]): Indexes {
  const indexes: Indexes = new Map()
  for (const index of order) {
    const key = form(titles[index]!)
    const same = indexes.get(key)
    if (same) same.push(index)
    else indexes.set(key, [index])
  }
  return indexes
}

/** Such as `name: Vorname, Nachname; email: E-Mail; not used: Telefon`. */
export function summaryOf(headers: Header[]): string {
  const parts = [...FIELDS, 'not used' as const].map((what) => {
    const used = headers.flatMap(({ titles, ways, unused }) =>
      (what === 'not used' ? unused : ways[what].flat(2)).map((index) =>
        displayed(titles[index]!, index),
      ),
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
  const bare = line.replaceAll(/"[^"]*"/g, (quoted) => quoted.replaceAll(/[,;\t|]/g, ' '))
  const score = (separator: string): number => {
    const titles = bare.split(separator, MAX_FIELDS)
    const isGiven = (title: string) => isKnownTitle(title) || given.has(normalize(title))
    return titles.filter(isGiven).length * 100_000 + titles.length
  }
  return [',', ';', '\t', '|'].toSorted((a, b) => score(b) - score(a))[0]!
}

export const isKnownTitle = (title: string): boolean =>
  KNOWN.has(normalize(title)) || KNOWN.has(stem(title))

const titlesIn = (given: string | string[] = []): string[] => [given].flat().filter(Boolean)

/** Normalizing n accents takes n² steps; a known title has at most 45 characters. */
const MAX_TITLE_LENGTH = 200

/**
 * `"E-Mail_Adréssen"` is `emailadresse`, `Nachname(n)` is `nachname`, `1er apellido` is `1apellido`, and a character
 * of half or full width is the usual one. Only letters, digits and `/` count: `S/N` is not `sn`.
 */
const normalize = (title: string): string =>
  title
    .slice(0, MAX_TITLE_LENGTH)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/(\d)\p{L}{1,3}(?!\p{L})/gu, '$1')
    .replaceAll(/\([a-z]{1,2}\)|[^\p{L}\p{N}/]/gu, '')
    .replace(/(?<=...)[ns]$/, '')

/** `E-Mail-Adresse 1 (privat)` and `E-Mail-Adresse [Required]` are `emailadresse`. */
const stem = (title: string): string =>
  normalize(title.replaceAll(/\d+|\([^()]*\)|\[[^[\]]*\]|\b(required|optional)\b/gi, ''))

/** How alike titles are: the same, but for case; but for what makes no difference; but for numbers and brackets. */
const FORMS = [(title: string) => title.slice(0, MAX_TITLE_LENGTH).toLowerCase(), normalize, stem]

type Column = keyof typeof TITLES | keyof typeof NAME_PARTS
/** The three forms of each title of a column. */
const KNOWN_FORMS = Object.fromEntries(
  Object.entries({ ...TITLES, ...NAME_PARTS }).map(([column, titles]) => [
    column,
    titles.split(', ').map((title) => FORMS.map((form) => form(title))),
  ]),
) as Record<Column, [string, string, string][]>
const KNOWN = new Set(Object.values(KNOWN_FORMS).flatMap((known) => known.map(([, b]) => b)))
