// The collection of users, which other programs may have made and may go on to change: what the service needs of it.
import { ObjectId, type Collection, type IndexDescriptionInfo } from 'mongodb'
import type { User } from '../user-store.ts'
import { fieldsOf, idOf } from './documents.ts'

/**
 * A user as MongoDB keeps it. Other programs may have stored values of other types. The service leaves out an empty
 * email, because a sparse index does not count it then.
 */
export type UserDocument = { [field in Exclude<keyof User, 'id'>]?: unknown } & { _id: ObjectId }

export type Users = Collection<UserDocument>

/**
 * Checks that every `_id` is an ObjectId, and that there is a unique index on email, which is made if it is missing; or,
 * if nothing is written, that there is a collection.
 *
 * @throws StoreFailure, or the driver's error
 */
export async function checkCollection(users: Users, readOnly: boolean): Promise<void> {
  if (!readOnly) await ensureUniqueEmail(users)
  else if (!(await findFirstId(users))) await users.indexes() // if there is a user, no right but to find is needed
  await findFirstId(users, NO_OBJECT_ID)
}

/** Reads the index of `_id` on both sides of all ObjectIds; `$not: { $type }` would read the whole collection. */
const NO_OBJECT_ID = { _id: { $not: { $gte: new ObjectId('0'.repeat(24)) } } }

/** The id of the first document that `filter` matches. @throws StoreFailure it is not an ObjectId; or the driver's error */
export async function findFirstId(users: Users, filter = {}): Promise<string | undefined> {
  const options = { projection: { _id: 1 }, sort: { _id: 1 }, raw: true } as const
  const first = await users.findOne<Buffer>(filter, options)
  return first ? idOf(fieldsOf(first)) : undefined
}

/** Makes a unique index on email, unless there is one. @throws the driver's error */
export async function ensureUniqueEmail(users: Users): Promise<void> {
  const indexes = await users.indexes().catch((error: { code?: unknown }) => {
    if (error.code === NAMESPACE_NOT_FOUND) return []
    throw error
  })
  if (indexes.some(hasAllEmails)) return
  const options = { name: 'users_email_unique', unique: true, sparse: true }
  await users.createIndex({ email: 1 }, options) // if it fails because of duplicates, the runbook finds them
}

const NAMESPACE_NOT_FOUND = 26 // there is no such collection yet

/** Whether an index makes all emails unique: a partial one leaves out users. */
const hasAllEmails = ({ key, unique, partialFilterExpression }: IndexDescriptionInfo) =>
  unique && isOnEmail(key) && !partialFilterExpression

/** Whether the key of an index is email alone. */
export const isOnEmail = (key: object): boolean => Object.keys(key).join() === 'email'
