// Users as documents of MongoDB, of which many are looked up or inserted at once; each has an outcome
// of its own.
import { MongoBulkWriteError, MongoServerError, ObjectId, type Collection } from 'mongodb'
import { readUser } from './bson.ts'
import { newUserId } from '../user-id.ts'
import { EmailTaken, StoreFailure, type Newcomer, type Outcome, type User } from '../user-store.ts'

/** A user as MongoDB keeps it. No email is no field, which a sparse index leaves out. */
export interface UserDocument {
  _id: ObjectId
  name: string
  email?: string
}

export const toDocument = ({ id, name, email }: User): UserDocument => {
  return { _id: toObjectId(id), name, ...(email !== '' && { email }) }
}

export const toObjectId = (id: string): ObjectId => ObjectId.createFromHexString(id)

/** @returns for each of `values`, the user whose `field` it is */
export async function findEach(
  users: Collection<UserDocument>,
  field: '_id' | 'email',
  values: (ObjectId | string)[],
): Promise<(User | undefined)[]> {
  const options = { raw: true, batchSize: values.length + 1 }
  const documents = await users.find<Buffer>({ [field]: { $in: values } }, options).toArray()
  const key = field === '_id' ? 'id' : 'email'
  const found = new Map(documents.map(readUser).map((user) => [user[key], user]))
  return values.map((value) => found.get(String(value)))
}

/**
 * @returns for each of `documents`, why it could not be inserted
 * @throws what the driver throws when it is not known which of them were
 */
export async function insertEach(
  users: Collection<UserDocument>,
  documents: UserDocument[],
): Promise<(Error | undefined)[]> {
  const { codes, error } = await insert(users, documents)
  if (codes.size === 0) return []
  return documents.map(({ email }, i) => {
    const code = codes.get(i)
    if (code === undefined) return undefined
    const taken = code === DUPLICATE_KEY && email !== undefined
    return taken ? new EmailTaken(email, { cause: error }) : new StoreFailure(error)
  })
}

/** What `UserStore.createMany` says. @throws what the driver throws when it is not known */
export async function createMany(
  users: Collection<UserDocument>,
  newcomers: Newcomer[],
  update: boolean,
): Promise<Outcome[]> {
  if (newcomers.length === 0) return [] // the driver would refuse
  const documents = newcomers.map((user) => toDocument({ ...user, id: user.id ?? newUserId() }))
  const { codes, error } = await insert(users, documents)
  if (codes.size === 0) return documents.map(() => 'created')
  if ([...codes.values()].some((code) => code !== DUPLICATE_KEY)) throw error
  const refused = documents.filter((_, i) => codes.has(i))
  const emails = refused.flatMap(({ email }) => email ?? [])
  const found = await findEach(users, 'email', emails)
  const owners = new Map(found.flatMap((owner) => (owner ? [[owner.email, owner]] : [])))
  const renamed = refused.filter(({ name, email }) => {
    const owner = owners.get(email ?? '')
    if (!update || !owner || owner.name === name) return false
    owner.name = name
    return true
  })
  await rename(users, renamed)
  return documents.map((document, i) => {
    if (!codes.has(i)) return 'created'
    if (!owners.has(document.email ?? '')) return 'id taken'
    return renamed.includes(document) ? 'updated' : 'email taken'
  })
}

/** Gives the users with the emails of `documents` their names. */
async function rename(users: Collection<UserDocument>, documents: UserDocument[]): Promise<void> {
  const updates = documents.map(({ name, email }) => {
    return { updateOne: { filter: { email: email! }, update: { $set: { name } } } }
  })
  if (updates.length > 0) await users.bulkWrite(updates)
}

/**
 * Inserts those of `documents` that the server does not refuse.
 *
 * @returns the codes of the others, by index, and the driver's error
 * @throws what the driver throws when it is not known which were inserted
 */
async function insert(
  users: Collection<UserDocument>,
  documents: UserDocument[],
): Promise<{ codes: Map<number, number>; error?: unknown }> {
  try {
    const [first] = documents
    if (documents.length === 1 && first) await users.insertOne(first)
    else await users.insertMany(documents, { ordered: false })
    return { codes: new Map() }
  } catch (error) {
    const codes = new Map(refusals(error, documents.length).map(({ index, code }) => [index, code]))
    if (codes.size === 0) throw origin(error)
    return { codes, error }
  }
}

const DUPLICATE_KEY = 11000 // https://www.mongodb.com/docs/manual/reference/error-codes/

/** Which of `count` documents the server refused, when it has made all others durable; else none. */
function refusals(error: unknown, count: number): { index: number; code: number }[] {
  if (!(error instanceof MongoBulkWriteError)) {
    const taken = error instanceof MongoServerError && error.code === DUPLICATE_KEY
    return taken ? [{ index: 0, code: DUPLICATE_KEY }] : []
  }
  const refused = [error.writeErrors].flat()
  const known = error.insertedCount + refused.length === count
  return known && !error.result.getWriteConcernError() ? refused : []
}

/** The error that the driver has wrapped into that of a bulk write. */
const origin = (error: unknown): unknown => {
  const cause = error instanceof MongoBulkWriteError ? error.errorResponse : undefined
  return cause instanceof Error ? cause : error
}
