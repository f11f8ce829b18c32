// Stores the users of a file, batch by batch. Does not use files, formats or the terminal.
import { validator } from '../../src/contract/validate.ts'
import { operationOf } from '../../src/contract/document.ts'
import type { components } from '../../src/contract/openapi.ts'
import { isUserId } from '../../src/store/user-id.ts'
import type { Newcomer, UserStore } from '../../src/store/user-store.ts'
import { newUser } from '../../src/users.ts'
import { placeOf, type Line } from './lines.ts'

/** How many users the first batches have, and the most characters of any batch. */
const BATCH = { least: 100, length: 4_000_000 }

/** How long, in milliseconds, a batch should take: services that write to the store wait for it. */
const BATCH_TIME = 500

/** The most bytes in the text of a user: the greatest `BODY_LIMIT`, as for POST. */
const MOST_BYTES = 8 * 1024 * 1024

export interface Import {
  store: Pick<UserStore, 'createMany' | 'most'>
  /** Whether a user whose email is already there gets the name in the file. */
  update: boolean
  /** Whether the ids in the file are ignored. */
  newIds: boolean
  /** Called for each line that is refused. */
  refuse: (place: string, reason: string) => void
  /** Ends the import after a batch, with an `AbortError`. */
  stop: AbortSignal
}

/** How many users had each outcome, and the last line (or element) up to which the import is complete. */
export type Tally = Record<'created' | 'updated' | 'duplicate' | 'refused', number> & {
  last: string
}

/** Stores the users of `lines`, and counts them in `tally`. If `lines` fails, the users before that are stored. */
export async function importUsers(
  lines: AsyncIterable<Iterable<Line>>,
  { store, update, newIds, refuse, stop }: Import,
  tally: Tally,
): Promise<void> {
  let batch: Newcomer[] = []
  let length = 0
  let size = BATCH.least
  let { last } = tally

  async function storeBatch(): Promise<void> {
    const [users, end] = [batch, last]
    batch = []
    length = 0
    last = tally.last // unless this batch is stored
    const began = performance.now()
    const outcomes = users.length > 0 ? await store.createMany(users, update) : []
    for (const outcome of outcomes) {
      tally[outcome === 'created' || outcome === 'updated' ? outcome : 'duplicate'] += 1
    }
    last = tally.last = end
    const inTime = Math.floor((users.length * BATCH_TIME) / Math.max(performance.now() - began, 1))
    size = Math.max(BATCH.least, Math.min(inTime, 2 * users.length, store.most))
  }

  function add(line: Line): void {
    last = placeOf(line)
    try {
      const user = toUser(line, newIds)
      batch.push(user)
      length += textOf(user).length
    } catch (error) {
      tally.refused += 1
      refuse(last, (error as Error).message)
    }
  }

  try {
    for await (const some of lines) {
      for (const line of some) {
        add(line)
        if (batch.length < size && length < BATCH.length) continue
        await storeBatch()
        stop.throwIfAborted()
      }
    }
  } finally {
    await storeBatch()
  }
}

const validate = validator(operationOf('createUser'))

/** @throws Error the line does not hold a user */
function toUser(line: Line, newIds: boolean): Newcomer {
  if ('reason' in line) throw new Error(line.reason)
  const { id: given = '' } = line.fields
  const user = newUser(validate(line.fields) as components['schemas']['UserFields']) // removes the id
  const text = textOf(user)
  if (Buffer.byteLength(text) > MOST_BYTES) throw new Error(TOO_MANY_BYTES)
  const id = newIds ? '' : given
  if (typeof id === 'string' && isUserId(id)) return { ...user, id }
  if (id !== '') throw new Error(NO_ID)
  if (text === '') throw new Error('it has neither a name nor an email')
  return user
}

const textOf = (user: Newcomer): string => Object.values(user).join('')

const TOO_MANY_BYTES = `it is longer than ${MOST_BYTES.toLocaleString('en')} bytes`
const NO_ID =
  'field `id` must be 24 lower-case hexadecimal digits (--new-ids ignores the ids in the file)'
