// What is made of errors that no server here gives. (The rest: ../user-store.test.ts.)
import { expect, test } from '@jest/globals'
import * as mongodb from 'mongodb'
import type { Users } from '../../../src/store/mongo/collection.ts'
import { insertEach } from '../../../src/store/mongo/inserts.ts'
import { StoreFailure } from '../../../src/store/failure.ts'
import { EmailTaken, IdTaken } from '../../../src/store/user-store.ts'
import { user } from '../../support/users.ts'

/** The results of inserts for an error of the driver, when users have the emails in `taken`. */
async function results(cause: Error, emails: string[], taken: string[] = []) {
  const insert = () => Promise.reject(cause)
  const find = ({ email }: { email?: { $in: string[] } }) => {
    const found = taken.filter((one) => email?.$in.includes(one))
    return { toArray: async () => found.map((email) => mongodb.BSON.serialize({ email })) }
  }
  const users = { insertMany: insert, insertOne: insert, find } as unknown as Users
  const newUsers = emails.map((email) => user({ email }))
  return (await insertEach(users, newUsers)).map((one) => one?.constructor)
}

/** The driver's error: `codes` by index, how many documents it inserted, and an error of the write concern. */
function bulkError(codes: Record<number, number>, inserted: number, concern?: object): Error {
  const writeErrors = Object.entries(codes).map(([index, code]) => ({ index: Number(index), code }))
  const result = { insertedCount: inserted, getWriteConcernError: () => concern }
  const error = { message: 'no', code: 0, writeErrors }
  return new mongodb.MongoBulkWriteError(error as never, result as never)
}

test.each([
  ['the majority did not confirm', bulkError({ 0: 11_000 }, 2, { code: 64 })],
  ['fewer were inserted than were not refused', bulkError({ 0: 11_000 }, 0)],
  ['the error is about no document', bulkError({}, 0)],
])('no insert counts as done when %s', async (_, error) => {
  await expect(results(error, ['a@x', 'b@x', ''])).rejects.toBe(error)
})

test.each([
  ['email', { email: 1 }, [], EmailTaken],
  ['the id', { _id: 1 }, [], IdTaken],
  ['the id, and a user has the email', { _id: 1 }, ['a@x'], EmailTaken],
  ['email and another field', { email: 1, tenant: 1 }, [], StoreFailure],
  ['nothing, and a user has the email', undefined, ['a@x'], EmailTaken],
  ['nothing, and no user has the email', undefined, [], StoreFailure],
])('a duplicate key of %s', async (_, keyPattern, taken, expected) => {
  const cause = new mongodb.MongoServerError({ code: 11_000, errmsg: 'no', keyPattern })
  expect(await results(cause, ['a@x'], taken)).toEqual([expected])
})
