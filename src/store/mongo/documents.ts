// Users as documents of MongoDB: many are looked up or inserted with one command, and each inserted one has
// its own outcome.
import { isUtf8 } from 'node:buffer'
import {
  Binary,
  BSON,
  MongoBulkWriteError,
  MongoServerError,
  ObjectId,
  UUID,
  type Long,
} from 'mongodb'
import { newUserId } from '../user-id.ts'
import { EmailTaken, StoreFailure, type User, type UserToImport } from '../user-store.ts'
import { isOnEmail, toId, uniqueIndexes, type Users } from './collection.ts'
import { kindOf } from './failure-kinds.ts'

const toDocument = ({ id, email, ...fields }: User) => {
  return { _id: toObjectId(id), ...fields, ...(email !== '' && { email }) }
}

/**
 * The user in a document that was read with `raw: true`. Ignores fields that other programs have added.
 *
 * @throws StoreFailure its `_id` is not an ObjectId
 */
export const toUser = (document: Buffer): User => userOf(parse(document))

const userOf = ({ _id, name, email }: BSON.Document): User => {
  return { id: toId(_id), name: toText(name), email: toText(email) }
}

const parse = (document: Buffer) =>
  BSON.deserialize(document, { validation: { utf8: false }, ...AS_STORED })

/** JavaScript cannot hold all regular expressions of MongoDB, which other programs may have in any field. */
const AS_STORED = { bsonRegExp: true }

/** A value that another program has stored, as POST would store it; an object or an array becomes JSON. */
function toText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (value instanceof Date) return JSON.stringify(value).replaceAll('"', '')
  const hasText = Object.getPrototypeOf(value).toString !== Object.prototype.toString
  const isNoText = value instanceof Binary && !(value instanceof UUID) && !isUtf8(value.value())
  const isJson = Array.isArray(value) || isNoText || !hasText
  return isJson ? BSON.EJSON.stringify(value) : (value as Long).toString()
}

export const toObjectId = (id: string): ObjectId => ObjectId.createFromHexString(id)

/** Matches the user with this id, and while it reads as this name if one is given. @throws the driver's error */
export async function filterFor(users: Users, id: string, ifName?: string) {
  const _id = toObjectId(id)
  if (ifName === undefined) return { _id }
  const found = await users.findOne({ _id }, { projection: { name: 1 }, ...AS_STORED })
  if (toText(found?.name) !== ifName) return { _id, name: { $in: [] } } // matches nothing
  return { _id, name: { $eq: found?.name ?? null } } // as it is stored, perhaps not as text
}

/** The users whose `field` is one of `values`, by its value. @throws the driver's error */
export async function findUsers(users: Users, field: 'id' | 'email', values: string[]) {
  const present = [...new Set(values)].filter((value) => value !== '') // an empty email is none
  if (present.length === 0) return new Map<string, User>()
  const filter =
    field === 'id' ? { _id: { $in: present.map(toObjectId) } } : { email: { $in: present } }
  const options = { raw: true, batchSize: present.length + 1 }
  const documents = await users.find<Buffer>(filter, options).toArray()
  const isMeant = ({ email }: BSON.Document) => field === 'id' || typeof email === 'string' // not an array with it
  const found = documents.map(parse).filter(isMeant).map(userOf)
  return new Map(found.map((user) => [user[field], user]))
}

/**
 * @returns for each of `newUsers`, why it could not be inserted
 * @throws the driver's error when it is not known which of them were inserted
 */
export async function insertEach(users: Users, newUsers: User[]) {
  const refusals = await insert(users, newUsers)
  return newUsers.map(({ email }, i) => {
    const refusal = refusals.get(i)
    if (refusal instanceof Error) return new StoreFailure(refusal, undefined, kindOf(refusal))
    return refusal && new EmailTaken(email)
  })
}

/** Implements `UserStore.createMany`. @throws the driver's error, or one that names another index than the email's */
export async function createMany(users: Users, toImport: UserToImport[], update: boolean) {
  if (toImport.length === 0) return [] // the driver would throw
  const newUsers = toImport.map((user) => ({ ...user, id: user.id ?? newUserId() }))
  const refusals = await insert(users, newUsers)
  const results = newUsers.map(({ name }, i) => {
    const refusal = refusals.get(i)
    if (!refusal) return 'created'
    if (refusal instanceof Error) throw refusal
    const { result, owner } = refusal
    if (!update || !owner || name === '' || owner.name === name) return result
    owner.name = name
    return 'updated'
  })
  const updates = newUsers
    .filter((_, i) => results[i] === 'updated')
    .map(({ name, email }) => ({ updateOne: { filter: { email }, update: { $set: { name } } } }))
  if (updates.length === 0) return results // the driver would throw
  const { matchedCount } = await users.bulkWrite(updates)
  if (matchedCount < updates.length) throw new Error(CHANGED)
  return results
}

const CHANGED = 'a user was deleted or changed meanwhile: run it again'

/** Why a user was not inserted: the email or the id is taken, or the server refuses the user for another reason. */
type Refusal = { result: 'email taken' | 'id taken'; owner?: User } | Error

/**
 * Inserts users, except those that the server refuses.
 *
 * @returns why users were refused, by their index
 * @throws the driver's error when it is not known which were inserted
 */
async function insert(users: Users, newUsers: User[]): Promise<Map<number, Refusal>> {
  const documents = newUsers.map(toDocument)
  try {
    if (documents.length > 1) await users.insertMany(documents, { ordered: false })
    else await users.insertOne(documents[0]!)
    return new Map()
  } catch (error) {
    const refused = refusedBy(error, documents.length)
    // If they cannot be explained, the inserted ones are inserted all the same.
    const unexplained = (cause: Error) => new Map(refused!.map(([i]) => [i, cause]))
    if (refused) return explain(users, newUsers, refused).catch(unexplained)
    const { errorResponse } = error as MongoBulkWriteError // the driver may have wrapped an error of the connection
    throw errorResponse instanceof Error ? errorResponse : error
  }
}

/** The errors of the documents that were refused, by index; undefined if others may not be inserted either. */
function refusedBy(error: unknown, count: number): [number, MongoServerError][] | undefined {
  if (error instanceof MongoBulkWriteError) {
    const refused = [error.writeErrors].flat()
    const isKnown = refused.length > 0 && error.insertedCount + refused.length === count
    if (!isKnown || error.result.getWriteConcernError()) return undefined
    return refused.map(({ index, code, errmsg }) => [index, new MongoServerError({ code, errmsg })])
  }
  const isDuplicate = error instanceof MongoServerError && error.code === DUPLICATE_KEY
  return count === 1 && isDuplicate ? [[0, error]] : undefined
}

const DUPLICATE_KEY = 11000 // https://www.mongodb.com/docs/manual/reference/error-codes/

/**
 * Finds out why users were refused. An error alone does not tell: not every server names the index, and one that names
 * another index may not have come to that of emails.
 */
async function explain(users: Users, newUsers: User[], refused: [number, MongoServerError][]) {
  const candidates = refused.map(([i]) => newUsers[i]!)
  const emails = candidates.map(({ email }) => email)
  const owners = await findUsers(users, 'email', emails)
  const others = candidates.filter(({ email }) => !owners.has(email)).map(({ id }) => id)
  const [sameIds, indexes] = await Promise.all([
    findUsers(users, 'id', others),
    others.length > 0 ? uniqueIndexes(users) : [],
  ])
  const reasonOf = ({ id, email }: User, error: MongoServerError): Refusal => {
    if (error.code !== DUPLICATE_KEY) return error
    const owner = owners.get(email)
    if (owner) return { result: 'email taken', owner }
    if (sameIds.has(id)) return { result: 'id taken' }
    const index = INDEX.exec(error.message)?.[1]
    const named = indexes.filter(({ name }) => index === undefined || name === index)
    const suspects = named.filter((one) => email === '' || !isOnEmail(one))
    const isEmail = named.length > 0 && suspects.length === 0
    if (isEmail) return { result: 'email taken' } // the owner has just been deleted
    const names = index ?? suspects.map(({ name }) => name).join(' or ')
    return new Error(`the unique index ${names} ${REFUSES}`, { cause: error })
  }
  return new Map(refused.map(([i, error]) => [i, reasonOf(newUsers[i]!, error)]))
}

/** The name of the index in the words of MongoDB. */
const INDEX = /^[^{]*? index: (.+?) (?:collation: .*)?dup key: /
const REFUSES = 'refuses the user: another document has the same key'
