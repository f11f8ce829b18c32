// Renames and deletes users in MongoDB, perhaps under a condition.
import type { Filter } from 'mongodb'
import pLimit from 'p-limit'
import { StoreFailure } from '../failure.ts'
import { isUserId } from '../user-id.ts'
import type { Condition, WriteResult } from '../user-store.ts'
import type { UserDocument, Users } from './collection.ts'
import type { Execute } from './connection.ts'
import { READABLE, toObjectId, userOf, valueOf, type Fields } from './documents.ts'

/** Changes the user that `filter` matches. Resolves to whether there is one. */
export type Write = (users: Users, filter: Filter<UserDocument>) => Promise<boolean>

interface Change {
  id: string
  write: Write
  condition: Condition
}

/**
 * The conditional writes at a time: each has the name of its user in memory, up to 0.5 MB, until the server responds. With
 * a smaller limit, busy connections read users in smaller batches, which take more CPU time.
 */
const MAX_CONDITIONAL_WRITES = 64

/** How often a conditional write is tried, if another write changes the user between the check and the write. */
const TRIES = 100

/**
 * Returns a function that changes a user, if a condition holds when there is one. @throws StoreFailure
 *
 * @param find finds the document of a user
 */
export function changer(execute: Execute, find: (id: string) => Promise<Fields | undefined>) {
  const limit = pLimit(MAX_CONDITIONAL_WRITES)
  /** The last conditional write of each user who has any now. */
  const last = new Map<string, Promise<WriteResult>>()
  /** When a conditional write last got no response, and its error. */
  let outage: { since: number; error: StoreFailure } | undefined

  /** The filter for the user as it was read, if that meets the condition. Keeps only the name in memory. */
  async function filterFor(id: string, condition: Condition) {
    const fields = await find(id)
    if (!fields) return 'not found'
    if (!condition(userOf(fields))) return 'refused'
    // Only the name can change. It is compared as it is stored, perhaps not as text.
    return { _id: toObjectId(id), name: { $eq: valueOf(fields, 'name') } }
  }

  async function changeIf({ id, write, condition }: Change): Promise<WriteResult> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const filter = await filterFor(id, condition)
      if (typeof filter === 'string') return filter
      if (await execute((users) => write(users, filter))) return 'done'
    }
    throw new StoreFailure(new Error('others changed it each time'), `change the user ${id}`)
  }

  /** Fails at once if another write got no response since `calledAt`: this one would only wait for the same once more. */
  async function changeUnlessOutage(change: Change, calledAt: number): Promise<WriteResult> {
    if (outage && outage.since > calledAt) throw outage.error
    return changeIf(change).catch((error: StoreFailure) => {
      if (error.kind === 'no response') outage = { since: performance.now(), error }
      throw error
    })
  }

  /** The writes of one user run one after the other: otherwise they would make each other try again. */
  async function changeInTurn(change: Change): Promise<WriteResult> {
    const { id } = change
    const calledAt = performance.now()
    const start = () => limit(() => changeUnlessOutage(change, calledAt))
    const result = last.get(id)?.then(start, start) ?? start()
    last.set(id, result)
    try {
      return await result
    } finally {
      if (last.get(id) === result) last.delete(id)
    }
  }

  return async (id: string, write: Write, condition?: Condition): Promise<WriteResult> => {
    if (!isUserId(id)) return 'not found'
    if (condition) return changeInTurn({ id, write, condition })
    const filter = { _id: toObjectId(id), ...READABLE }
    if (await execute((users) => write(users, filter))) return 'done'
    const fields = await find(id)
    if (fields) userOf(fields) // throws, unless the user has just been created
    return 'not found'
  }
}
