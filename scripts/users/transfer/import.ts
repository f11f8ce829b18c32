// Stores the users of a file, batch by batch.
import { once } from 'node:events'
import { stderr } from 'node:process'
import type { StoreFailure } from '../../../src/chassis/index.ts'
import {
  EmailTaken,
  IdTaken,
  NOT_TEXT,
  type Changes,
  type NewUser,
  type User,
  type UserStore,
} from '../../../src/store/user-store.ts'
import { linesOf, type Reader, type Row } from './lines.ts'
import type { UserInRow } from './users.ts'

/** In users. While SQLite stores a batch, services wait, and so does Ctrl-C. With 1,500, an import takes a fifth longer. */
const BATCH_SIZE = 2_500
/** In characters of rows. */
const MAX_BATCH_LENGTH = 4_000_000
/** How many users are looked up at a time, because each may be large. */
const MAX_LOOKUPS = 100

export interface Import {
  reader: Reader
  /** The user in a row, and the fields that the row has. @throws Error the row is refused */
  userIn: (row: Row) => UserInRow
  /** Whether a user whose email is already there gets the name in the file, unless that is empty. */
  update: boolean
  /**
   * Called with the first user and the fields in use, before anything is stored.
   *
   * @returns the store; undefined if nothing is to be stored
   */
  begin: (first: NewUser, fields: string[]) => Promise<UserStore | undefined>
  /** Called for each row that is refused, is a duplicate or renames a user. */
  report: (line: number, what: string) => void
  /** How many rows had each outcome. `unchanged` means that the same user was stored before. */
  counts: Record<Outcome, number>
}
type Outcome = 'created' | 'updated' | 'unchanged' | 'duplicate' | 'refused'

type Item = UserInRow & { line: number }

/** Stores the users in a file, and counts them. If the file cannot be read to its end, the users before that are stored. */
export async function importUsers(bytes: AsyncIterable<Buffer>, to: Import): Promise<void> {
  const { reader, counts } = to
  let store: UserStore | undefined
  let hasBegun = false
  let items: Item[] = []
  let length = 0
  /** With --update, the changes to the users before, each by its id and by its email: one of them may be in another row. */
  const updates = new Map<string, string>()

  /** @throws Error a row before wants another change of the user */
  function checkConflicts(user: NewUser): void {
    const keys = [user.id, user.email].filter(Boolean) as string[]
    const changes = JSON.stringify(changesOf(user, user))
    if (keys.some((key) => (updates.get(key) ?? changes) !== changes)) throw new Error(CONFLICT)
    for (const key of keys) updates.set(key, changes)
  }

  function add(row: Row | undefined): void {
    if (!row) return
    try {
      const { user, given } = to.userIn(row)
      if (to.update) checkConflicts(user)
      items.push({ line: row.line, user, given })
      length += row.text.length
    } catch (error) {
      counts.refused += 1
      to.report(row.line, (error as Error).message)
    }
  }

  async function storeItems(): Promise<void> {
    const all = items
    items = []
    length = 0
    if (store && all.length > 0) await storeBatch(all, store, to)
    else if (hasBegun) counts.created += all.length
  }

  try {
    for await (const { first, lines } of linesOf(bytes)) {
      if (stderr.writableNeedDrain) await once(stderr, 'drain') // or the report for a slow reader fills the memory
      for (const [i, text] of lines.entries()) {
        const row = reader.read(text, first + i)
        add(row)
        if (!hasBegun && items[0]) {
          store = await to.begin(items[0].user, Object.keys(row!.fields!()))
          hasBegun = true
        }
        if (items.length === BATCH_SIZE || length >= MAX_BATCH_LENGTH) await storeItems()
      }
    }
    add(reader.end())
  } finally {
    await storeItems()
  }
}

/** With --update, each of two such users would rename the other, in every run. */
const CONFLICT = 'another row has its email or id, and another name'

async function storeBatch(items: Item[], store: UserStore, to: Import): Promise<void> {
  const stored = await Promise.allSettled(items.map(({ user }) => store.create(user)))
  for (let from = 0; from < items.length; from += MAX_LOOKUPS) {
    const part = items.slice(from, from + MAX_LOOKUPS)
    const outcomes = part.map(async ({ line, user, given }, i) => {
      const result = stored[from + i]!
      const failure = result.status === 'rejected' ? (result.reason as Error) : undefined
      const [outcome, what] = await outcomeOf(user, given, failure, store, to.update).catch(
        unreadable,
      )
      to.counts[outcome] += 1
      if (what) to.report(line, what)
    })
    await Promise.all(outcomes)
  }
}

type Result = [Outcome, what?: string]

/** What became of a user, and what is to be reported, if anything. @throws StoreFailure */
async function outcomeOf(
  user: NewUser,
  given: Partial<NewUser>,
  failure: Error | undefined,
  store: UserStore,
  update: boolean,
): Promise<Result> {
  if (!failure) return ['created']
  const isIdTaken = failure instanceof IdTaken
  if (!isIdTaken && !(failure instanceof EmailTaken)) throw failure
  const owner = isIdTaken ? await store.find(user.id!) : await store.findByEmail(user.email)
  const name = owner ? `the user ${owner.id}` : 'another user'
  const fields = Object.entries(given) as [keyof NewUser, string][]
  const isWhatIsGiven = (found?: User) => fields.every(([field, text]) => found?.[field] === text)
  if (isWhatIsGiven(owner)) return ['unchanged']
  const changes = owner && changesOf(given, owner)
  // A difference that no change removes would be there in every run.
  const isUpdate = update && owner && changes && isWhatIsGiven({ ...owner, ...changes })
  if (isUpdate && (await store.rename(owner.id, changes)) === 'done')
    return ['updated', `${name} was updated`]
  return ['duplicate', `${name} has its ${isIdTaken ? 'id' : 'email'}, and differs`]
}

/** What --update changes: every field that can change, unless it is empty in the file, or the file does not have it. */
const changesOf = (given: Partial<NewUser>, owner: NewUser): Required<Changes> => ({
  name: given.name || owner.name,
})

/** What becomes of a user whose email or id another program's user has, who cannot be read. @throws any other failure */
function unreadable(error: StoreFailure): Result {
  if (error.kind !== NOT_TEXT) throw error
  return ['duplicate', error.message]
}
