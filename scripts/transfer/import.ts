// Lines of a file into a store, batch by batch. Knows no file, no format and no terminal.
import { validator } from '../../src/contract/validate.ts'
import { operationOf } from '../../src/contract/document.ts'
import type { components } from '../../src/contract/openapi.ts'
import { isUserId } from '../../src/store/user-id.ts'
import type { Newcomer, Outcome, UserStore } from '../../src/store/user-store.ts'
import { newUser } from '../../src/users.ts'
import type { Line } from './line.ts'
import { nameless } from './nameless.ts'

/** How many users are stored at once at first, and the most UTF-16 code units of their text. */
const BATCH = { least: 100, length: 4_000_000 }

/** How long, in milliseconds, storing a batch is to take: services that write to the store wait for it. */
const BATCH_TIME = 500

/** The most bytes of a user's text: what the greatest BODY_LIMIT lets POST take. */
const LONGEST = 8 * 1024 * 1024

export interface Import {
  store: Pick<UserStore, 'createMany' | 'most' | 'list'>
  /** Whether a user whose email is there already gets the name in the file. */
  update: boolean
  /** Whether the ids in the file are not kept. */
  newIds: boolean
  /** Is told of each line that is not stored, and why. */
  report(line: number, reason: string): void
  /** Ends it behind a batch, with an `AbortError`. */
  stop: AbortSignal
}

export type Tally = { [What in 'created' | 'updated' | 'duplicate' | 'refused']: number } & {
  /** The last line that was dealt with. */
  line: number
}

/** Stores what `lines` say, up to where they break off; counts in `tally` as it goes. */
export async function importUsers(
  lines: AsyncIterable<Line[]>,
  given: Import,
  tally: Tally,
): Promise<void> {
  const there = nameless(given.store)
  let batch: Row[] = []
  let length = 0
  let size = BATCH.least
  let hasIds = false // of users without an email, in this batch

  async function store(): Promise<void> {
    const rows = batch
    batch = []
    length = 0
    hasIds = false
    const users = rows.flatMap((row) => ('user' in row ? row.user : []))
    const began = performance.now()
    const outcomes = users.length > 0 ? await given.store.createMany(users, given.update) : []
    size = nextSize(users.length, performance.now() - began)
    const next = outcomes.values()
    for (const row of rows) count(row, next)
  }

  function nextSize(users: number, time: number): number {
    const inTime = Math.floor((users * BATCH_TIME) / Math.max(time, 1))
    return Math.max(BATCH.least, Math.min(inTime, 2 * users, given.store.most))
  }

  function count(row: Row, outcomes: Iterator<Outcome>): void {
    tally.line = row.line
    if ('is' in row) return refuse(row)
    const { line, user } = row
    const outcome = outcomes.next().value as Outcome
    if (outcome === 'created' || outcome === 'updated') return void (tally[outcome] += 1)
    if (outcome === 'id taken' && user.email === '') there.take(user.name)
    refuse({ line, is: 'duplicate', reason: taken(user, outcome) })
  }

  function refuse({ line, is, reason }: Refusal): void {
    tally[is] += 1
    given.report(line, `${is}: ${reason}`)
  }

  /** Whether a user without an email is there already; one with an id is told by that. */
  async function isThere({ id, name }: Newcomer): Promise<boolean> {
    await there.ready()
    hasIds ||= id !== undefined
    if (id !== undefined) return false
    if (hasIds) await store() // some of which may be taken
    return there.take(name)
  }

  async function add(line: Line): Promise<void> {
    const row = toRow(line, given.newIds)
    const user = 'user' in row ? row.user : undefined
    const isDouble = user?.email === '' && (await isThere(user))
    length += user ? user.name.length + user.email.length : 0
    batch.push(isDouble ? { line: row.line, is: 'duplicate', reason: takenName(user.name) } : row)
  }

  try {
    for await (const some of lines) {
      for (const line of some) {
        await add(line)
        if (batch.length < size && length < BATCH.length) continue
        await store()
        given.stop.throwIfAborted()
      }
    }
  } finally {
    await store() // of a file that breaks off, too
  }
}

/** A line with its user, or with what becomes of it and why. */
type Row = { line: number; user: Newcomer } | Refusal

interface Refusal {
  line: number
  is: 'refused' | 'duplicate'
  reason: string
}

const taken = ({ id, email }: Newcomer, outcome: Outcome): string =>
  outcome === 'id taken' && id !== undefined
    ? `a user with id ${id} already exists`
    : `a user with email ${JSON.stringify(email)} already exists`

const takenName = (name: string): string =>
  `a user with name ${JSON.stringify(name)} and no email already exists`

const validate = validator(operationOf('createUser'))

function toRow(content: Line, newIds: boolean): Row {
  const { line } = content
  if ('reason' in content) return { line, is: 'refused', reason: content.reason }
  try {
    return { line, user: toUser(content.fields, newIds) }
  } catch (error) {
    return { line, is: 'refused', reason: (error as Error).message }
  }
}

/** A user as a line says it. @throws Error it cannot be one */
function toUser(fields: Record<string, unknown>, newIds: boolean): Newcomer {
  const user = newUser(validate(fields) as components['schemas']['NewUser'])
  if (Buffer.byteLength(user.name) + Buffer.byteLength(user.email) > LONGEST) throw new Error(LONG)
  const id = newIds ? '' : (fields['id'] ?? '')
  if (typeof id === 'string' && isUserId(id)) return { ...user, id }
  if (id !== '') throw new Error(NO_ID)
  if (user.email === '' && user.name === '') throw new Error('it has neither a name nor an email')
  return user
}

const LONG = `it is longer than ${LONGEST.toLocaleString('en')} bytes`
const NO_ID = 'field `id` must be 24 lower-case hexadecimal digits (--new-ids gives new ones)'
