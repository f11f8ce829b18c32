// Stores the users of a file, batch by batch. Does not use files, formats or the terminal.
import { validator } from '../../src/contract/validate.ts'
import { operationOf } from '../../src/contract/document.ts'
import type { components } from '../../src/contract/openapi.ts'
import { isUserId } from '../../src/store/user-id.ts'
import type { UserToImport, UserStore } from '../../src/store/user-store.ts'
import { newUser } from '../../src/users.ts'
import { positionOf, type Line } from './lines.ts'

/** In users; the first batches have as many. */
const MIN_BATCH_SIZE = 100
/** In characters. */
const MAX_BATCH_LENGTH = 4_000_000
/** How long a batch should take: services that write to the store wait for it. */
const BATCH_MS = 500
/** The text of a user: the greatest `BODY_LIMIT`, as for POST. */
const MAX_USER_BYTES = 1024 * 1024

export interface Import {
  store: Pick<UserStore, 'createMany' | 'maxBatchSize'>
  /** Whether a user whose email is already there gets the name in the file. */
  update: boolean
  /** Whether the ids in the file are ignored. */
  newIds: boolean
  /** Called for each line that is refused. */
  refuse: (position: string, reason: string) => void
  /** Ends the import after a batch, with an `AbortError`. */
  signal: AbortSignal
}

/** How many users had each outcome, and the line (or element) up to which the import is complete. */
export type Tally = Record<'created' | 'updated' | 'duplicate' | 'refused', number> & {
  lastLine: string
}

/** Stores the users of `lines`, and counts them in `tally`. If `lines` fails, the users before that are stored. */
export async function importUsers(
  lines: AsyncIterable<Iterable<Line>>,
  { store, update, newIds, refuse, signal }: Import,
  tally: Tally,
): Promise<void> {
  let batch: UserToImport[] = []
  let length = 0
  let size = MIN_BATCH_SIZE
  let { lastLine } = tally

  async function storeBatch(): Promise<void> {
    const [users, batchEnd] = [batch, lastLine]
    batch = []
    length = 0
    lastLine = tally.lastLine // unless this batch is stored
    const startedAt = performance.now()
    const results = users.length > 0 ? await store.createMany(users, update) : []
    for (const result of results) {
      tally[result === 'created' || result === 'updated' ? result : 'duplicate'] += 1
    }
    lastLine = tally.lastLine = batchEnd
    const ms = Math.max(performance.now() - startedAt, 1)
    const affordable = Math.floor((users.length * BATCH_MS) / ms)
    size = Math.max(MIN_BATCH_SIZE, Math.min(affordable, 2 * users.length, store.maxBatchSize))
  }

  function add(line: Line): void {
    lastLine = positionOf(line)
    try {
      const user = toUser(line, newIds)
      batch.push(user)
      length += textOf(user).length
    } catch (error) {
      tally.refused += 1
      refuse(lastLine, (error as Error).message)
    }
  }

  try {
    for await (const chunk of lines) {
      for (const line of chunk) {
        add(line)
        if (batch.length < size && length < MAX_BATCH_LENGTH) continue
        await storeBatch()
        signal.throwIfAborted()
      }
    }
  } finally {
    await storeBatch()
  }
}

const validate = validator(operationOf('createUser'))

/** @throws Error the line does not hold a user */
function toUser(line: Line, newIds: boolean): UserToImport {
  if ('reason' in line) throw new Error(line.reason)
  const { id: given = '' } = line.fields
  const user = newUser(validate(line.fields) as components['schemas']['UserFields']) // removes the id
  const text = textOf(user)
  if (Buffer.byteLength(text) > MAX_USER_BYTES) throw new Error(TOO_LONG)
  const id = newIds ? '' : given
  if (typeof id === 'string' && isUserId(id)) return { ...user, id }
  if (id !== '') throw new Error(INVALID_ID)
  if (!user.name && !user.email) throw new Error('it has neither a name nor an email')
  return user
}

const textOf = (user: UserToImport): string => Object.values(user).join('')

const TOO_LONG = `it is longer than ${MAX_USER_BYTES.toLocaleString('en')} bytes`
const INVALID_ID =
  'field `id` must be 24 lower-case hexadecimal digits (--new-ids ignores the ids in the file)'
