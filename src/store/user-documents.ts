// Users as documents of MongoDB, of which many are looked up or inserted at once; each has an outcome
// of its own.
import { MongoBulkWriteError, MongoServerError, ObjectId, type Collection } from 'mongodb'
import { readUser } from './user-bson.ts'
import { EmailTaken, StoreFailure, type User } from './user-store.ts'

/** A user as MongoDB keeps it. No email is no field, which a sparse index leaves out. */
export interface UserDocument {
  _id: ObjectId
  name: string
  email?: string
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
  try {
    const [first] = documents
    if (documents.length === 1 && first) await users.insertOne(first)
    else await users.insertMany(documents, { ordered: false })
    return []
  } catch (error) {
    const codes = new Map(refusals(error, documents.length).map(({ index, code }) => [index, code]))
    if (codes.size === 0) throw origin(error)
    return documents.map(({ email }, i) => {
      const code = codes.get(i)
      if (code === undefined) return undefined
      const taken = code === DUPLICATE_KEY && email !== undefined
      return taken ? new EmailTaken(email, { cause: error }) : new StoreFailure(error)
    })
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
