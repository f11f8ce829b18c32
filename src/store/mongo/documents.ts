// Users as documents of MongoDB: many are looked up or inserted with one command, and each inserted one has
// its own outcome.
import {
  BSON,
  type Long,
  MongoBulkWriteError,
  MongoServerError,
  ObjectId,
  type Filter,
  type IndexDescriptionInfo,
} from 'mongodb'
import { newUserId } from '../user-id.ts'
import { EmailTaken, StoreFailure, type User, type UserToImport } from '../user-store.ts'
import {
  isOnEmail,
  uniqueIndexes,
  UnsupportedId,
  type UserDocument,
  type Users,
} from './collection.ts'
import { kindOf } from './failure-kinds.ts'

function toDocument({ id, email, ...fields }: User): UserDocument {
  return { _id: toObjectId(id), ...fields, ...(email !== '' && { email }) }
}

/**
 * The user in a document that was read with `raw: true`. Ignores fields that other programs have added.
 *
 * @throws UnsupportedId
 */
export function toUser(document: Buffer): User {
  const { _id, name, email } = BSON.deserialize(document, READ_OPTIONS)
  if (!(_id instanceof ObjectId)) throw new UnsupportedId(_id)
  return { id: _id.toHexString(), name: toText(name), email: toText(email) }
}

/** Without `promoteLongs: false`, a large integer would be read as another one. */
const READ_OPTIONS = { promoteLongs: false, validation: { utf8: false as const } }

/** A value that another program has stored, as POST would store it; an object or an array becomes JSON. */
function toText(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (value instanceof Date) return JSON.stringify(value).replaceAll('"', '')
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype
  return isPlain ? BSON.EJSON.stringify(value) : (value as Long).toString()
}

export const toObjectId = (id: string): ObjectId => ObjectId.createFromHexString(id)

/** Matches the user with this id, while it has this name if one is given. @returns undefined if it has not */
export async function match(
  users: Users,
  id: string,
  ifName?: string,
): Promise<Filter<UserDocument> | undefined> {
  const _id = toObjectId(id)
  if (ifName === undefined) return { _id }
  const found = await users.findOne({ _id }, { projection: { name: 1 }, promoteLongs: false })
  if (!found || toText(found.name) !== ifName) return undefined
  return { _id, name: { $eq: found.name ?? null } } // as it is stored: it may not be a text
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
  const { refusals, error } = await insert(users, newUsers)
  const conflicts = await findConflicts(users, newUsers, refusals)
  return newUsers.map(({ email }, i) => {
    if (!refusals.has(i)) return undefined
    const conflict = conflicts.get(i)
    if (conflict?.isEmail) return new EmailTaken(email, { cause: error })
    const cause = conflict ? otherIndex(conflict, error) : error
    return new StoreFailure(cause, undefined, kindOf(cause))
  })
}

/** Implements `UserStore.createMany`. @throws the driver's error, or that of another index than the email's */
export async function createMany(users: Users, toImport: UserToImport[], update: boolean) {
  if (toImport.length === 0) return [] // the driver would throw
  const newUsers = toImport.map((user) => ({ ...user, id: user.id ?? newUserId() }))
  const { refusals, error } = await insert(users, newUsers)
  const conflicts = await findConflicts(users, newUsers, refusals)
  if (conflicts.size < refusals.size) throw error
  const results = newUsers.map(({ name }, i) => {
    const conflict = conflicts.get(i)
    if (!conflict) return 'created'
    const { owner, isId, isEmail } = conflict
    if (!owner && isId) return 'id taken'
    if (!isEmail) throw otherIndex(conflict, error)
    if (!update || !owner || owner.name === name) return 'email taken'
    owner.name = name
    return 'updated'
  })
  const updates = newUsers
    .filter((_, i) => results[i] === 'updated')
    .map(({ name, email }) => ({ updateOne: { filter: { email }, update: { $set: { name } } } }))
  if (updates.length > 0) await users.bulkWrite(updates)
  return results
}

/** What a refused user has in common with the stored ones. */
interface Conflict {
  /** The user with this email. */
  owner: User | undefined
  isId: boolean
  isEmail: boolean
  /** The names of the unique indexes that may have refused the user. */
  indexes: string
}

/**
 * Why users were refused because of a duplicate key. The error does not always say this: not every server names the
 * index, and one that names another index may not have come to that of emails.
 */
async function findConflicts(users: Users, newUsers: User[], refusals: Refusals) {
  const duplicates = [...refusals].filter(([, { code }]) => code === DUPLICATE_KEY)
  if (duplicates.length === 0) return new Map<number, Conflict>()
  const refused = duplicates.map(([i]) => newUsers[i]!)
  const emails = refused.flatMap(({ email }) => email || [])
  const owners = await findUsers(users, 'email', emails)
  const ids = refused.map(({ id }) => id)
  const sameIds = await findUsers(users, 'id', ids)
  const indexes = await uniqueIndexes(users)
  const conflicts = duplicates.map(([i, { words }]): [number, Conflict] => {
    const { id, email } = newUsers[i]!
    const owner = owners.get(email)
    const others = indexes.filter((index) => email === '' || !isOnEmail(index)).map(nameOf)
    const index = INDEX.exec(words)?.[1]
    const isOther = index === undefined ? others.length > 0 : others.includes(index)
    const isEmail = email !== '' && (owner !== undefined || !isOther)
    return [i, { owner, isId: sameIds.has(id), isEmail, indexes: index ?? others.join(' or ') }]
  })
  return new Map(conflicts)
}

const nameOf = ({ name = '' }: IndexDescriptionInfo): string => name

/** The name of the index in the words of MongoDB. */
const INDEX = /^[^{]*? index: (.+?) (?:collation: .*)?dup key: /

const otherIndex = ({ indexes }: Conflict, cause: unknown): Error =>
  new Error(`the unique index ${indexes} refuses the user: another document has the same key`, {
    cause,
  })

const DUPLICATE_KEY = 11000 // https://www.mongodb.com/docs/manual/reference/error-codes/

/** The codes and words of the errors of users, by the index of the user. */
type Refusals = Map<number, { code: number; words: string }>

/**
 * Inserts users, except those that the server refuses.
 *
 * @returns the refused ones, and the driver's error
 * @throws the driver's error when it is not known which were inserted
 */
async function insert(users: Users, newUsers: User[]) {
  const documents = newUsers.map(toDocument)
  try {
    if (documents.length > 1) await users.insertMany(documents, { ordered: false })
    else await users.insertOne(documents[0]!)
    return { refusals: new Map() as Refusals }
  } catch (error) {
    const refusals = refusalsIn(error, documents.length)
    if (refusals) return { refusals, error }
    const { errorResponse } = error as MongoBulkWriteError // the driver may have wrapped an error of the connection
    throw errorResponse instanceof Error ? errorResponse : error
  }
}

/** The users that were refused; undefined if others may not be inserted either. */
function refusalsIn(error: unknown, count: number): Refusals | undefined {
  if (error instanceof MongoBulkWriteError) {
    const refused = [error.writeErrors].flat()
    const isKnown = refused.length > 0 && error.insertedCount + refused.length === count
    if (!isKnown || error.result.getWriteConcernError()) return undefined
    return new Map(refused.map(({ index, code, errmsg = '' }) => [index, { code, words: errmsg }]))
  }
  const isDuplicate = error instanceof MongoServerError && error.code === DUPLICATE_KEY
  if (count !== 1 || !isDuplicate) return undefined
  return new Map([[0, { code: DUPLICATE_KEY, words: error.message }]])
}
