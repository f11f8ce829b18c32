// The collection of users, which other programs may have made and may go on to change: what the service needs of it.
import { ObjectId, type Collection, type IndexDescriptionInfo } from 'mongodb'
import { StoreFailure, type User } from '../user-store.ts'

/** The name of the collection. */
export const USERS = 'users'

/**
 * A user as MongoDB keeps it. Other programs may have stored values of other types. The service leaves out an empty
 * email, because a sparse index does not count it then.
 */
export type UserDocument = { [field in Exclude<keyof User, 'id'>]?: unknown } & { _id: ObjectId }

export type Users = Collection<UserDocument>

/** @throws StoreFailure an `_id` is not an ObjectId; or the driver's error */
export async function checkIds(users: Users): Promise<void> {
  // Reads the index of `_id` on both sides of all ObjectIds; `$not: { $type }` would read the whole collection.
  const isOther = { $not: { $gte: new ObjectId('0'.repeat(24)) } }
  const found = await users.findOne({ _id: isOther }, { projection: { _id: 1 } })
  if (found) toId(found._id) // throws
}

/** The id of a user, from an `_id`. @throws StoreFailure it is not an ObjectId: the service could not list it in order */
export function toId(_id: unknown): string {
  if (_id instanceof ObjectId) return _id.toHexString()
  const type = _id?.constructor.name ?? 'null'
  const cause = new Error(`a document has one of type ${type}. ${ONLY_OBJECT_IDS}`)
  throw new StoreFailure(cause, `use the collection ${USERS}`, 'an _id is not an ObjectId')
}

const ONLY_OBJECT_IDS =
  'The service has only users whose _id is an ObjectId: replace such documents, or use another database'

/** Makes a unique index on email, unless there is one. @throws the driver's error, or one that says which users have the same email */
export async function ensureUniqueEmail(users: Users): Promise<void> {
  const indexes = await uniqueIndexes(users)
  if (indexes.some(isOnEmail)) return
  const options = { name: 'users_email_unique', unique: true, sparse: true }
  try {
    await users.createIndex({ email: 1 }, options)
  } catch (error) {
    throw await withDuplicates(users, error)
  }
}

/** The unique indexes, without that of `_id`. */
export async function uniqueIndexes(users: Users): Promise<IndexDescriptionInfo[]> {
  try {
    const indexes = await users.indexes()
    return indexes.filter(({ unique }) => unique)
  } catch (error) {
    if ((error as { code?: unknown }).code === NAMESPACE_NOT_FOUND) return []
    throw error
  }
}

const NAMESPACE_NOT_FOUND = 26 // there is no such collection yet

/** Whether an index is on email alone. One that may leave out users with an email does not count. */
export function isOnEmail({ key, partialFilterExpression }: IndexDescriptionInfo): boolean {
  const isOfAll =
    !partialFilterExpression || ALL_EMAILS.includes(JSON.stringify(partialFilterExpression))
  return isOfAll && Object.keys(key).join() === 'email'
}

/** Filters of partial indexes that have every email. */
const ALL_EMAILS = ['{"$exists":true}', '{"$type":"string"}', '{"$type":2}', '{"$gt":""}'].map(
  (filter) => `{"email":${filter}}`,
)

/** Names users with the same email by their ids, because no email may get into the log. */
async function withDuplicates(users: Users, error: unknown): Promise<unknown> {
  const { keyValue } = error as { keyValue?: { email: unknown } }
  if (!keyValue) return error
  const { email } = keyValue
  if (!email)
    return new Error(`several users have the email ${JSON.stringify(email)}`, { cause: error })
  const found = await users
    .find({ email } as object, { projection: { _id: 1 }, limit: 2 })
    .toArray()
  const ids = found.map(({ _id }) => String(_id)).join(' and ')
  return new Error(`the users ${ids} have the same email`, { cause: error })
}
