// A record of a file (a line of CSV, an object of JSON) as the fields of a user. A record that seems to say something
// else than what would be stored is refused. One with an id of the service is taken as it is: export-users wrote it.
import { isUserId } from '../../src/store/user-id.ts'
import type { Content } from './lines.ts'
import { isKnownTitle, type Header } from './titles.ts'

/** @param isAfterGap whether the record follows an empty line */
export function contentOf(values: unknown[], header: Header, isAfterGap = false): Content {
  const entries = header.columns.map(([field, ways]) => [field, valueOf(values, ways, header)])
  const fields = Object.fromEntries(entries)
  const reason = isOwnId(fields.id) ? undefined : doubt(fields, values, header, isAfterGap)
  return reason === undefined ? { fields } : { reason }
}

/** Whether this is an id as the service gives them. */
export const isOwnId = (id: unknown): boolean => typeof id === 'string' && isUserId(id)

function valueOf(values: unknown[], ways: number[][], { isNameVague }: Header): unknown {
  for (const way of ways) {
    const parts = way.map((index) => values[index]).filter((value) => textOf(value).trim() !== '')
    const isRepeated = (part: unknown) =>
      parts.some((other) => other !== part && ` ${other} `.includes(` ${part} `))
    if (parts.length === 1) return parts[0]
    if (parts.length > 1) return parts.filter((part) => !isNameVague || !isRepeated(part)).join(' ')
  }
  return values[ways.flat()[0]!] ?? ''
}

/** Why the record may mean something else than its fields say. */
function doubt(
  { name, email }: Record<string, unknown>,
  values: unknown[],
  { titles, chosen, unused, unrecognized }: Header,
  isAfterGap: boolean,
): string | undefined {
  const mayBeName = (index: number) =>
    typeof values[index] !== 'boolean' && /\p{L}/u.test(textOf(values[index]))
  if (unrecognized.name && unused.some(mayBeName)) return unrecognized.name
  const address = textOf(email)
  if ([textOf(name), address].some((text) => /^=".*"$/s.test(text))) return IS_FORMULA
  if (/[\p{Cc}\p{Cf}]/u.test(address)) return HAS_INVISIBLE
  if (address.includes('@')) return MARKUP.test(address) ? HAS_MARKUP : undefined
  const other = chosen.email ?? values.findIndex((value) => textOf(value).includes('@'))
  if (typeof other === 'number' && other >= 0) {
    return unrecognized.email ?? `its email has no @, but \`${titles[other]}\` has one: ${CHOOSE}`
  }
  const texts = [textOf(name), address].filter(Boolean)
  if (texts.length > 0 && texts.every((text) => isKnownTitle(text) || titles.includes(text)))
    return 'it repeats the titles'
  if (isAfterGap || FOOTER.test(textOf(name))) return IS_FOOTER
  return texts.length > 0 && texts.every((text) => /^[-=+:|_*. ]+$/.test(text))
    ? IS_RULE
    : undefined
}

/** In an email that is more than an address: `Ada <ada@example.com>`, `mailto:`, quotes. */
const MARKUP = /[<>]|mailto:|^smtp:|^['"]|['"]$/i
const FOOTER =
  /^((grand|sub) ?)?totals?\b|^(summe|gesamt|somme|suma)\b|confidential|copyright|©|\d+ (records?|rows?)\W*$/i

const IS_FORMULA = 'it has a formula (`="…"`) instead of a text: save the texts'
const HAS_INVISIBLE = 'its email has a character that cannot be seen: type the email anew'
const HAS_MARKUP = 'its email is more than an address: leave only the address'
const CHOOSE = 'correct the line, or choose a column with --email-column'
const IS_FOOTER = 'it looks like a footer: delete it or, if it is a user, give it an email or an id'
const IS_RULE = 'it is a line of a table, and not a user'

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
