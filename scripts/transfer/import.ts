// Lines of a file into a store, batch by batch. Knows no file, no format and no terminal.
import { hash } from 'node:crypto'
import { validator } from '../../src/contract/body.ts'
import { operationOf } from '../../src/contract/contract.ts'
import type { components } from '../../src/contract/openapi.ts'
import { isUserId, ticksAt, userIdOf } from '../../src/store/user-id.ts'
import type { Newcomer, Outcome, UserStore } from '../../src/store/user-store.ts'
import { newUser } from '../../src/users.ts'
import type { Line } from './line.ts'

/** How many users are stored at once, at first the least, and the most UTF-16 code units of their text. */
const BATCH = { least: 100, most: 50_000, length: 4_000_000 }

/** How long, in milliseconds, storing a batch is to take: services that write to the store wait for it. */
const BATCH_TIME = 500

export interface Import {
  store: Pick<UserStore, 'createMany'>
  /** Whether a user whose email is there already gets the name in the file. */
  update: boolean
  /** Whether the ids in the file are not kept. */
  newIds: boolean
  /** When the file was written, in milliseconds since 1970; none if it is no file. */
  written: number | undefined
  /** Is told of each line that is not stored, and why. */
  report(line: number, reason: string): void
  /** Ends it behind a batch. */
  stop: AbortSignal
}

export type Tally = { [What in 'created' | 'updated' | 'duplicate' | 'refused']: number } & {
  /** The last line that was dealt with. */
  line: number
}

/** Stores what `lines` say; counts in `tally` as it goes. */
export async function importUsers(
  lines: AsyncIterable<Line[]>,
  given: Import,
  tally: Tally,
): Promise<void> {
  let batch: Row[] = []
  let length = 0
  let size = BATCH.least

  async function store(): Promise<void> {
    const rows = batch
    batch = []
    length = 0
    const users = rows.flatMap(({ user }) => (typeof user === 'string' ? [] : user))
    const began = performance.now()
    const outcomes = users.length > 0 ? await given.store.createMany(users, given.update) : []
    size = nextSize(users.length, performance.now() - began)
    const next = outcomes.values()
    for (const row of rows) count(row, next)
  }

  function count({ line, user }: Row, outcomes: Iterator<Outcome>): void {
    tally.line = line
    if (typeof user === 'string') {
      tally.refused += 1
      return given.report(line, `refused: ${user}`)
    }
    const outcome = outcomes.next().value as Outcome
    if (outcome === 'created' || outcome === 'updated') return void (tally[outcome] += 1)
    tally.duplicate += 1
    const taken =
      outcome === 'email taken' ? `email ${JSON.stringify(user.email)}` : `id ${user.id}`
    given.report(line, `duplicate: a user with ${taken} already exists`)
  }

  try {
    for await (const some of lines) {
      for (const line of some) {
        const user = toUser(line, given)
        batch.push({ line: line.line, user })
        length += typeof user === 'string' ? 0 : user.name.length + user.email.length
        if (batch.length < size && length < BATCH.length) continue
        await store()
        if (given.stop.aborted) return
      }
    }
  } finally {
    if (!given.stop.aborted) await store() // of a file that breaks off, too
  }
}

/** How many users to store at once, after `users` have taken `time` milliseconds. */
function nextSize(users: number, time: number): number {
  const inTime = Math.floor((users * BATCH_TIME) / Math.max(time, 1))
  return Math.max(BATCH.least, Math.min(inTime, 2 * users, BATCH.most))
}

/** A line with its user, or with why it has none. */
interface Row {
  line: number
  user: Newcomer | string
}

const validate = validator(operationOf('createUser'))

/** A user as a line says it, or why it cannot be one. */
function toUser(content: Line, { newIds, written }: Import): Newcomer | string {
  if ('reason' in content) return content.reason
  const { line, fields } = content
  try {
    const user = newUser(validate(fields) as components['schemas']['NewUser'])
    const id = newIds ? undefined : (fields['id'] ?? '')
    if (typeof id === 'string' && isUserId(id)) return { ...user, id }
    if (id !== undefined && id !== '') return NO_ID
    if (user.email !== '') return user
    if (user.name === '') return 'it has neither a name nor an email'
    return { ...user, id: written === undefined ? undefined : idOf(user.name, line, written) }
  } catch (error) {
    return (error as Error).message
  }
}

const NO_ID = 'field `id` must be 24 lower-case hexadecimal digits (--new-ids gives new ones)'

/** The id of a user without an email, which is the same when the file is imported again: of its time and line. */
const idOf = (name: string, line: number, written: number): string =>
  userIdOf(ticksAt(written) + line, hash('sha256', name).slice(0, 12))
