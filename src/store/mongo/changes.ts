// Renames and deletes users in MongoDB, perhaps under a condition.
import type { Filter } from 'mongodb'
import { batched } from '../batch.ts'
import { StoreFailure } from '../failure.ts'
import { isUserId } from '../user-id.ts'
import type { Condition, WriteResult } from '../user-store.ts'
import type { UserDocument, Users } from './collection.ts'
import type { Execute } from './connection.ts'
import { READABLE, toObjectId, userOf, valueOf, type Fields } from './documents.ts'
import { findFields } from './lists.ts'

/** Changes the user that `filter` matches. Resolves to whether there is one. */
export type Write = (users: Users, filter: Filter<UserDocument>) => Promise<boolean>

interface Change {
  id: string
  condition: Condition
  write: Write
}

/** The users of conditional writes that are in memory at a time: one can take 0.5 MB while the server writes. */
const BATCHES = { maxBatchSize: 16, concurrency: 1 }

/**
 * How often a conditional write is tried, if others change the user between the check and the write. When all
 * writes of a batch concern one user, each try completes one of them.
 */
const TRIES = 100

/** Returns a function that changes a user, if a condition holds when there is one. @throws StoreFailure */
export function changer(execute: Execute) {
  const find = (ids: string[]) => execute((users) => findFields(users, 'id', ids))

  async function changeIf({ id, condition, write }: Change, first?: Fields): Promise<WriteResult> {
    let fields = first
    for (let tries = 0; fields && tries < TRIES; tries += 1) {
      if (!condition(userOf(fields))) return 'refused'
      // Only the name can change. It is compared as it is stored, perhaps not as text.
      const filter = { _id: toObjectId(id), name: { $eq: valueOf(fields, 'name') } }
      if (await execute((users) => write(users, filter))) return 'done'
      fields = (await find([id])).get(id)
    }
    if (fields)
      throw new StoreFailure(new Error('others changed it each time'), `change the user ${id}`)
    return 'not found'
  }

  const changeEach = batched(async (changes: Change[]) => {
    const found = await find(changes.map(({ id }) => id))
    const results = changes.map((change) => changeIf(change, found.get(change.id)))
    const settled = await Promise.all(
      results.map((result) => result.catch((error: Error) => error)),
    )
    const outage = settled.find((one) => one instanceof StoreFailure && one.kind === 'no response')
    if (outage) throw outage as Error // those that wait would only wait for it once more
    return settled
  }, BATCHES)

  return async (id: string, write: Write, condition?: Condition): Promise<WriteResult> => {
    if (!isUserId(id)) return 'not found'
    if (condition) return changeEach({ id, condition, write })
    const filter = { _id: toObjectId(id), ...READABLE }
    if (await execute((users) => write(users, filter))) return 'done'
    const fields = (await find([id])).get(id)
    if (fields) userOf(fields) // throws, unless the user has just been created
    return 'not found'
  }
}
