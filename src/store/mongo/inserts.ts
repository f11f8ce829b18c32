// Inserts users, many with one command. Each of them has its own outcome.
import { MongoBulkWriteError, MongoServerError } from 'mongodb'
import { StoreFailure } from '../../chassis/index.ts'
import { EmailTaken, IdTaken, type User } from '../user-store.ts'
import { isOnEmail, type Users } from './collection.ts'
import { emailOf, fieldsOf, toDocument } from './documents.ts'
import { kindOf } from './failure-kinds.ts'
import { findFields } from './lists.ts'

/**
 * @returns for each of `newUsers`, why it could not be inserted
 * @throws the driver's error when it is not known which of them were inserted
 */
export async function insertEach(users: Users, newUsers: User[]): Promise<(Error | undefined)[]> {
  if (newUsers.length === 1) return [await insertOne(users, newUsers[0]!)]
  const refused = await insertMany(users, newUsers)
  if (refused.size === 0) return newUsers.map(() => undefined)
  const candidates = newUsers.filter((_, i) => refused.has(i))
  const taken = await takenEmails(users, candidates).catch(() => new Set()) // the others are inserted all the same
  const reasonFor = async (user: User, i: number) => {
    if (!refused.has(i)) return undefined
    return taken.has(user.email) ? new EmailTaken(user.email) : insertOne(users, user)
  }
  return Promise.all(newUsers.map((user, i) => reasonFor(user, i).catch(toFailure)))
}

/** @returns why the user was refused @throws the driver's error when it is not known whether the user was inserted */
async function insertOne(users: Users, user: User): Promise<Error | undefined> {
  try {
    await users.insertOne(toDocument(user))
    return undefined
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
    const key = error.keyPattern ?? (await guessKey(users, user)) // FerretDB names none
    if (isOnEmail(key)) return new EmailTaken(user.email)
    if (!('_id' in key)) return toFailure(error)
    const isEmailTaken = (await takenEmails(users, [user])).size > 0 // the server names only one of two
    return isEmailTaken ? new EmailTaken(user.email) : new IdTaken()
  }
}

/** The key of the index that refused a user: that of the id if it is taken, else that of the email. */
async function guessKey(users: Users, { id, email }: User): Promise<object> {
  if ((await findFields(users, 'id', [id])).size > 0) return { _id: 1 }
  return email === '' ? {} : { email: 1 }
}

const isDuplicateKey = (error: unknown): error is MongoServerError =>
  error instanceof MongoServerError && error.code === DUPLICATE_KEY

const DUPLICATE_KEY = 11000 // https://www.mongodb.com/docs/manual/reference/error-codes/

const toFailure = (error: unknown) => new StoreFailure(error, undefined, kindOf(error))

/** Those emails of `candidates` that users have. Reads no names, which can be long. */
async function takenEmails(users: Users, candidates: User[]): Promise<Set<string | undefined>> {
  const emails = candidates.map(({ email }) => email).filter((email) => email !== '')
  const options = { raw: true, projection: { _id: 0, email: 1 }, batchSize: emails.length + 1 }
  const found = await users.find<Buffer>({ email: { $in: emails } }, options).toArray()
  return new Set(found.map((document) => emailOf(fieldsOf(document))))
}

/**
 * Inserts users, except those that the server refuses.
 *
 * @returns the indexes of those that were refused
 * @throws the driver's error when it is not known which were inserted
 */
async function insertMany(users: Users, newUsers: User[]): Promise<Set<number>> {
  try {
    await users.insertMany(newUsers.map(toDocument), { ordered: false })
    return new Set()
  } catch (error) {
    const refused = refusedBy(error, newUsers.length)
    if (refused) return refused
    const { errorResponse } = error as MongoBulkWriteError // the driver may have wrapped an error of the connection
    throw errorResponse instanceof Error ? errorResponse : error
  }
}

/** The indexes of the documents that were refused; undefined if others may not be inserted either. */
function refusedBy(error: unknown, count: number): Set<number> | undefined {
  if (!(error instanceof MongoBulkWriteError)) return undefined
  const refused = [error.writeErrors].flat()
  const isKnown = refused.length > 0 && error.insertedCount + refused.length === count
  if (!isKnown || error.result.getWriteConcernError()) return undefined
  return new Set(refused.map(({ index }) => index))
}
