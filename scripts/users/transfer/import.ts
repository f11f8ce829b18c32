// Stores the users of a file, batch by batch. Does not use files, formats or the terminal.
import { validator } from '../../../src/contract/validate.ts'
import { operationOf } from '../../../src/contract/contract.ts'
import type { components } from '../../../src/contract/openapi.ts'
import type { ImportResult, User, UserToImport, UserStore } from '../../../src/store/user-store.ts'
import { isUserId } from '../../../src/store/user-id.ts'
import { newUser } from '../../../src/users.ts'
import { positionOf, type Line } from './lines.ts'

/** In users. Services wait up to 0.2 s while SQLite stores a batch. With 1,000, an import takes twice as long. */
const BATCH_SIZE = 10_000
/** In characters. */
const MAX_BATCH_LENGTH = 4_000_000
/** How many users are looked up at a time, because each may be large. */
const MAX_LOOKUPS = 100
/** The text of a user: the greatest `BODY_LIMIT`, as for POST. */
const MAX_USER_BYTES = 1024 * 1024

export interface Import {
  store: Pick<UserStore, 'createMany' | 'find' | 'findByEmail' | 'maxBatchSize'>
  /** Whether a user whose email is already there gets the name in the file, unless that is empty. */
  update: boolean
  /** Whether the ids in the file are ignored. */
  newIds: boolean
  /** Called for each line that is refused, is a duplicate or renames a user. */
  report: (position: string, what: string) => void
  /** Ends the import after a batch, with an `AbortError`. */
  signal: AbortSignal
  tally: Tally
}

export const newTally = () => ({
  /** How many lines had each outcome. `unchanged` means that the same user was stored before. */
  counts: { created: 0, updated: 0, unchanged: 0, duplicate: 0, refused: 0 },
  /** How many users a person should look at, by what is unusual. */
  notes: new Map<string, number>(),
  /** The first user, as it is stored. */
  first: undefined as UserToImport | undefined,
  /** The line (or element) of the last user who was stored or was there: the import is complete up to it. */
  lastLine: '',
})
export type Tally = ReturnType<typeof newTally>

/** Stores the users of `lines`, and counts them. If `lines` fails, the users before that are stored. */
export async function importUsers(lines: AsyncIterable<Iterable<Line>>, to: Import): Promise<void> {
  const maxSize = Math.min(BATCH_SIZE, to.store.maxBatchSize)
  let batch: Item[] = []
  /** The users of the batch by their emails. */
  const byEmail = new Map<string, Item>()
  let length = 0

  async function storeBatch(): Promise<void> {
    const items = batch
    batch = []
    byEmail.clear()
    length = 0
    if (items.length > 0) await storeItems(items, to)
  }

  try {
    for await (const chunk of lines) {
      for (const line of chunk) {
        const item = readItem(line, to, byEmail)
        if (!item) continue
        batch.push(item)
        length += textOf(item.user).length
        if (batch.length < maxSize && length < MAX_BATCH_LENGTH) continue
        await storeBatch()
        to.signal.throwIfAborted()
      }
    }
  } finally {
    await storeBatch()
  }
}

type Item = { position: string; user: UserToImport }

/** The user of a line, or undefined if the line is refused. */
function readItem(line: Line, to: Import, byEmail: Map<string, Item>): Item | undefined {
  const { newIds, update, report, tally } = to
  const position = positionOf(line)
  try {
    const user = toUser(line, newIds)
    const earlier = update && user.name !== '' ? byEmail.get(user.email) : undefined
    if (earlier && earlier.user.name !== user.name)
      throw new Error(`duplicate: ${earlier.position} has its email and another name`)
    if (user.email !== '') byEmail.set(user.email, { position, user })
    for (const note of notesOn(user, line)) tally.notes.set(note, (tally.notes.get(note) ?? 0) + 1)
    return { position, user }
  } catch (error) {
    tally.counts.refused += 1
    report(position, (error as Error).message)
    return undefined
  }
}

async function storeItems(items: Item[], to: Import): Promise<void> {
  const { store, update, report, tally } = to
  const users = items.map(({ user }) => user)
  const results = await store.createMany(users, update)
  for (let from = 0; from < items.length; from += MAX_LOOKUPS) {
    const some = items.slice(from, from + MAX_LOOKUPS)
    const outcomes = some.map(({ user }, i) => outcomeOf(user, results[from + i]!, to))
    for (const [i, [outcome, what]] of (await Promise.all(outcomes)).entries()) {
      const { position, user } = some[i]!
      tally.counts[outcome] += 1
      tally.lastLine = position
      if (what) report(position, what)
      if (outcome !== 'duplicate' && outcome !== 'refused') tally.first ??= user
    }
  }
}

/** What became of a user, and what the report says of it, if anything. */
type Outcome = [keyof Tally['counts'], string?]

async function outcomeOf(user: UserToImport, result: ImportResult, to: Import): Promise<Outcome> {
  if (result === 'created') return ['created']
  const isIdTaken = result === 'id taken'
  const owner = isIdTaken ? await to.store.find(user.id!) : await to.store.findByEmail(user.email)
  const name = owner ? `the user ${owner.id}` : UNKNOWN
  if (result === 'updated') return ['updated', `${name} has got this name`]
  const fields = Object.entries(user) as [keyof User, string][]
  if (fields.every(([field, text]) => owner?.[field] === text)) return ['unchanged']
  if (isIdTaken) return ['duplicate', `duplicate: ${name} has its id`]
  if (to.update && user.name === '')
    return ['refused', `its name is empty: ${name} keeps the old name`]
  return ['duplicate', `duplicate: ${name} has its email`]
}

const UNKNOWN =
  'a user who was just deleted, or whose email differs in a way that the index ignores,'

const validate = validator(operationOf('createUser'))

/** @throws Error the line does not hold a user */
function toUser(line: Line, newIds: boolean): UserToImport {
  if ('reason' in line) throw new Error(line.reason)
  const { id: given = '' } = line.fields
  const user = newUser(validate(line.fields) as components['schemas']['UserFields']) // removes the id
  if (!line.isExact && NO_EMAIL.test(user.email.trim())) user.email = ''
  const text = textOf(user)
  if (Buffer.byteLength(text) > MAX_USER_BYTES) throw new Error(TOO_LONG)
  const id = newIds ? '' : String(given).replace(/^ObjectId\("?(.*?)"?\)$/, '$1') // as mongoexport writes it
  if (isUserId(id)) return { ...user, id }
  if (id !== '') throw new Error(INVALID_ID)
  if (!user.name && !user.email) throw new Error('it has neither a name nor an email')
  return user
}

/** What databases and spreadsheets write where there is no value. */
const NO_EMAIL =
  /^(\\n|[([<][^@]*[)\]>]|n\/?a|n\.a\.|nan|nil|none|null|false|undefined|#[\p{L}/0]+[!?]?|[^\p{L}\p{N}@]+)$/iu

const textOf = (user: UserToImport): string => Object.values(user).join('')

const TOO_LONG = `it is longer than ${MAX_USER_BYTES.toLocaleString('en')} bytes`
const INVALID_ID =
  'field `id` must be 24 lower-case hexadecimal digits (--new-ids ignores the ids in the file)'

/** What is unusual about a user, each as the name of a count. */
function notesOn({ id, name, email }: UserToImport, line: Line): string[] {
  const given = 'fields' in line && line.fields['email']
  const isAddress = /^[^\s,;@]+@[^\s,;@]+$/.test(email)
  return [
    email !== '' && !email.includes('@') ? 'emails without an @' : '',
    email.includes('@') && !isAddress ? 'emails that are not one plain address' : '',
    email === '' && given ? 'emails left out, because they are NULL or the like' : '',
    name === '' ? 'empty names' : '',
    email === '' && !id ? 'users without an email and an id: another run stores them again' : '',
  ].filter(Boolean)
}
