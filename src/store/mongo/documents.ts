// Users as documents of MongoDB: many are looked up or inserted with one command, and each inserted one has
// its own outcome.
import { BSON, MongoBulkWriteError, MongoServerError, ObjectId } from 'mongodb'
import type { Collection, Filter } from 'mongodb'
import { newUserId } from '../user-id.ts'
import { EmailTaken, StoreFailure, type User, type UserToImport } from '../user-store.ts'

/** The name of the collection. */
export const USERS = 'users'

/** A user as MongoDB keeps it. An empty email is an absent field, which the sparse index leaves out. */
export type UserDocument = Omit<User, 'id' | 'email'> & { _id: ObjectId; email?: string }

export type Users = Collection<UserDocument>

function toDocument({ id, email, ...fields }: User): UserDocument {
  return { _id: toObjectId(id), ...fields, ...(email !== '' && { email }) }
}

/** The user in a document that was read with `raw: true`. Ignores fields that other programs have added. */
export function toUser(document: Buffer): User {
  const { _id, name = '', email = '' } = BSON.deserialize(document, { validation: { utf8: false } })
  return { id: String(_id), name, email }
}

export const toObjectId = (id: string): ObjectId => ObjectId.createFromHexString(id)

/** Matches the user with this id, and this name if one is given; a document without a name has an empty one. */
export function byId(id: string, ifName?: string): Filter<UserDocument> {
  const name = ifName === '' ? { $in: ['', null as never] } : ifName
  return { _id: toObjectId(id), ...(name !== undefined && { name }) }
}

/** The users whose `field` is one of `values`, by its value. @throws the driver's error */
export async function findUsers(users: Users, field: 'id' | 'email', values: string[]) {
  if (values.length === 0) return new Map<string, User>()
  const filter =
    field === 'id' ? { _id: { $in: values.map(toObjectId) } } : { email: { $in: values } }
  const options = { raw: true, batchSize: values.length + 1 }
  const documents = await users.find<Buffer>(filter, options).toArray()
  return new Map(documents.map(toUser).map((user) => [user[field], user]))
}

/**
 * @returns for each of `newUsers`, why it could not be inserted
 * @throws the driver's error when it is not known which of them were inserted
 */
export async function insertEach(users: Users, newUsers: User[]) {
  const { codes, error } = await insert(users, newUsers.map(toDocument))
  return newUsers.map(({ email }, i) => {
    const code = codes.get(i)
    if (code === undefined) return undefined
    const isTaken = code === DUPLICATE_KEY && email !== ''
    return isTaken ? new EmailTaken(email, { cause: error }) : new StoreFailure(error)
  })
}

/** Implements `UserStore.createMany`. @throws the driver's error */
export async function createMany(users: Users, newUsers: UserToImport[], update: boolean) {
  if (newUsers.length === 0) return [] // the driver would throw
  const documents = newUsers.map((user) => toDocument({ ...user, id: user.id ?? newUserId() }))
  const { codes, error } = await insert(users, documents)
  if ([...codes.values()].some((code) => code !== DUPLICATE_KEY)) throw error
  const refused = documents.filter((_, i) => codes.has(i))
  const emails = refused.flatMap(({ email }) => email ?? [])
  const owners = await findUsers(users, 'email', emails)
  const results = documents.map(({ name, email = '' }, i) => {
    const owner = owners.get(email)
    if (!codes.has(i)) return 'created'
    if (!owner) return 'id taken'
    if (!update || name === '' || owner.name === name) return 'email taken'
    owner.name = name
    return 'updated'
  })
  const updates = documents
    .filter((_, i) => results[i] === 'updated')
    .map(({ name, email }) => ({ updateOne: { filter: { email }, update: { $set: { name } } } }))
  if (updates.length > 0) await users.bulkWrite(updates)
  return results
}

const DUPLICATE_KEY = 11000 // https://www.mongodb.com/docs/manual/reference/error-codes/

/**
 * Inserts `documents`, except those that the server refuses.
 *
 * @returns the error codes of the refused ones by index, and the driver's error
 * @throws the driver's error when it is not known which were inserted
 */
async function insert(users: Users, documents: UserDocument[]) {
  try {
    if (documents.length > 1) await users.insertMany(documents, { ordered: false })
    else await users.insertOne(documents[0]!)
    return { codes: new Map<number, number>() }
  } catch (error) {
    const codes = refusalsIn(error, documents.length)
    if (codes) return { codes, error }
    const { errorResponse } = error as MongoBulkWriteError // the driver may have wrapped an error of the connection
    throw errorResponse instanceof Error ? errorResponse : error
  }
}

/** The error codes of the documents that were refused, by index; undefined if others may not be inserted either. */
function refusalsIn(error: unknown, count: number): Map<number, number> | undefined {
  if (error instanceof MongoBulkWriteError) {
    const refused = [error.writeErrors].flat()
    const isKnown = refused.length > 0 && error.insertedCount + refused.length === count
    if (!isKnown || error.result.getWriteConcernError()) return undefined
    return new Map(refused.map(({ index, code }) => [index, code]))
  }
  const isDuplicate = error instanceof MongoServerError && error.code === DUPLICATE_KEY
  return count === 1 && isDuplicate ? new Map([[0, DUPLICATE_KEY]]) : undefined
}
