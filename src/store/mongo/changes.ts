// Renames and deletes users in MongoDB, perhaps under a condition.
import type { Filter } from 'mongodb'
import { batched, type Client, type StoreFailure } from '../../chassis/index.ts'
import { isUserId } from '../user-id.ts'
import { NOT_TEXT, type Condition, type WriteResult } from '../user-store.ts'
import type { UserDocument, Users } from './collection.ts'
import type { Execute } from './connection.ts'
import { asStored, READABLE, toObjectId, userOf, type Fields } from './documents.ts'

/** Changes the user that `filter` matches. Resolves to whether there is one. */
export type Write = (users: Users, filter: Filter<UserDocument>) => Promise<boolean>

interface Change {
  id: string
  write: Write
  condition?: Condition | undefined
}

/**
 * The writes at a time: fewer than the driver has connections, so that look-ups find one. A conditional write has the
 * fields of its user in memory, up to 0.5 MB, until the server responds.
 */
const MAX_WRITES = 64

/** How often a conditional write is tried, if another write changes the user between the check and the write. */
const TRIES = 2

/**
 * Returns a function that changes a user, if a condition holds when there is one. @throws StoreFailure
 *
 * @param find finds the document of a user
 */
export function changer(execute: Execute, find: (id: string) => Promise<Fields | undefined>) {
  async function changeIf(id: string, write: Write, condition: Condition): Promise<WriteResult> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const fields = await find(id)
      if (!fields) return 'not found'
      if (!condition(userOf(fields))) return 'refused'
      const filter = { _id: toObjectId(id), ...asStored(fields) }
      if (await execute((users) => write(users, filter))) return 'done'
    }
    return 'refused' // the user keeps changing
  }

  async function changeAnyway(id: string, write: Write): Promise<WriteResult> {
    const filter = { _id: toObjectId(id), ...READABLE }
    if (await execute((users) => write(users, filter))) return 'done'
    const fields = await find(id)
    if (fields) userOf(fields) // throws if the user cannot be read; else it was created after the write
    return 'not found'
  }

  const limited = batched<Change, WriteResult>(
    async ([change]) => {
      const { id, write, condition } = change!
      const result = condition ? changeIf(id, write, condition) : changeAnyway(id, write)
      return [await result.catch(ofOneUser)]
    },
    { maxBatchSize: 1, concurrency: MAX_WRITES },
  )
  return async (change: Change, client?: Client): Promise<WriteResult> =>
    isUserId(change.id) ? limited(change, client) : 'not found'
}

/** An unreadable user fails no write of another. @throws any other error */
function ofOneUser(error: StoreFailure): StoreFailure {
  if (error.kind === NOT_TEXT) return error
  throw error
}
