// Users as documents of MongoDB: many are looked up or inserted with one command, and each inserted one has
// its own outcome.
import { BSON, MongoBulkWriteError, ObjectId, type Collection, type FindCursor } from 'mongodb'
import { newUserId } from '../user-id.ts'
import { EmailTaken, StoreFailure, type Newcomer, type Outcome, type User } from '../user-store.ts'

/** The name of the collection. */
export const USERS = 'users'

/** A user as MongoDB keeps it. An empty email is an absent field, which the sparse index leaves out. */
export type UserDocument = Omit<User, 'id' | 'email'> & { _id: ObjectId; email?: string }

/** Makes a call of the driver, waits for it, and translates its errors. */
export type Attempt = <T>(call: (users: Collection<UserDocument>) => Promise<T>) => Promise<T>

export function toDocument({ id, email, ...fields }: User): UserDocument {
  return { _id: toObjectId(id), ...fields, ...(email !== '' && { email }) }
}

/** The user in a document that was read with `raw: true`. Ignores fields that other programs have added. */
export function toUser(document: Buffer): User {
  const { _id, name = '', email = '' } = BSON.deserialize(document, { validation: { utf8: false } })
  return { id: String(_id), name, email }
}

export const toObjectId = (id: string): ObjectId => ObjectId.createFromHexString(id)

/** The documents of the users whose `field` is one of `values`. */
export function findEach(
  users: Collection<UserDocument>,
  field: 'id' | 'email',
  values: string[],
): FindCursor<Buffer> {
  const filter =
    field === 'id' ? { _id: { $in: values.map(toObjectId) } } : { email: { $in: values } }
  return users.find<Buffer>(filter, { raw: true, batchSize: values.length + 1 })
}

/**
 * @returns for each of `documents`, why it could not be inserted
 * @throws the driver's error when it is not known which of them were inserted
 */
export async function insertEach(
  users: Collection<UserDocument>,
  documents: UserDocument[],
): Promise<(Error | undefined)[]> {
  const { codes, error } = await insert(users, documents)
  return documents.map(({ email }, i) => {
    const code = codes.get(i)
    if (code === undefined) return undefined
    const isTaken = code === DUPLICATE_KEY && email !== undefined
    return isTaken ? new EmailTaken(email, { cause: error }) : new StoreFailure(error)
  })
}

/** Implements `UserStore.createMany`. @throws the driver's error */
export async function createMany(
  users: Collection<UserDocument>,
  newcomers: Newcomer[],
  update: boolean,
): Promise<Outcome[]> {
  if (newcomers.length === 0) return [] // the driver would throw
  const documents = newcomers.map((user) => toDocument({ ...user, id: user.id ?? newUserId() }))
  const { codes, error } = await insert(users, documents)
  if ([...codes.values()].some((code) => code !== DUPLICATE_KEY)) throw error
  const refused = documents.filter((_, i) => codes.has(i))
  const owners = await ownersOf(users, refused)
  const renamed = refused.filter(({ name, email = '' }) => {
    const owner = owners.get(email)
    if (!update || !owner || owner.name === name) return false
    owner.name = name
    return true
  })
  const updates = renamed.map(({ name, email }) => {
    return { updateOne: { filter: { email: email! }, update: { $set: { name } } } }
  })
  if (updates.length > 0) await users.bulkWrite(updates)
  return documents.map((document, i) => {
    if (!codes.has(i)) return 'created'
    if (!owners.has(document.email ?? '')) return 'id taken'
    return renamed.includes(document) ? 'updated' : 'email taken'
  })
}

/** The users who have the emails of `documents`, by email. */
async function ownersOf(
  users: Collection<UserDocument>,
  documents: UserDocument[],
): Promise<Map<string, User>> {
  const emails = documents.flatMap(({ email }) => email ?? [])
  if (emails.length === 0) return new Map()
  const owners = (await findEach(users, 'email', emails).toArray()).map(toUser)
  return new Map(owners.map((owner) => [owner.email, owner]))
}

const DUPLICATE_KEY = 11000 // https://www.mongodb.com/docs/manual/reference/error-codes/

/**
 * Inserts `documents`, except those that the server refuses.
 *
 * @returns the error codes of the refused ones by index, and the driver's error
 * @throws the driver's error when it is not known which were inserted
 */
async function insert(
  users: Collection<UserDocument>,
  documents: UserDocument[],
): Promise<{ codes: Map<number, number>; error?: unknown }> {
  try {
    await users.insertMany(documents, { ordered: false })
    return { codes: new Map() }
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error
    const refused = [error.writeErrors].flat()
    const isKnown = refused.length > 0 && error.insertedCount + refused.length === documents.length
    if (isKnown && !error.result.getWriteConcernError()) {
      return { codes: new Map(refused.map(({ index, code }) => [index, code])), error }
    }
    const { errorResponse } = error // the driver has wrapped an error of the connection
    throw errorResponse instanceof Error ? errorResponse : error
  }
}
