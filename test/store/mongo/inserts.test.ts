// What is made of errors that no server here gives. (The rest: ../user-store.test.ts.)
import { expect, test } from '@jest/globals'
import * as mongodb from 'mongodb'
import type { Users } from '../../../src/store/mongo/collection.ts'
import { insertEach } from '../../../src/store/mongo/inserts.ts'
import { StoreFailure } from '../../../src/chassis/index.ts'
import { EmailTaken, IdTaken } from '../../../src/store/user-store.ts'
import { user } from '../../support/users.ts'

/** The results of inserts for an error of the driver; by default of three, of which the last has no email. */
async function results(cause: Error, emails = ['a@x', 'b@x', ''], taken = ['a@x']) {
  const fail = () => Promise.reject(cause)
  const duplicateKey = new mongodb.MongoServerError({ code: 11_000, errmsg: 'no' })
  const isMany = emails.length > 1
  const insertOne = () => Promise.reject(isMany ? duplicateKey : cause)
  const find = ({ email }: { email?: { $in: string[] } }) => {
    const found = taken.filter((one) => email?.$in.includes(one))
    return { toArray: async () => found.map((email) => mongodb.BSON.serialize({ email })) }
  }
  const users = { insertMany: fail, insertOne, find } as unknown as Users
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

test('each of several errors fails its own insert only', async () => {
  const error = bulkError({ 0: 11_000, 2: 121 }, 1)
  expect(await results(error)).toEqual([EmailTaken, undefined, StoreFailure])
})

test.each([
  ['the majority did not confirm', bulkError({ 0: 11_000 }, 2, { code: 64 })],
  ['fewer were inserted than were not refused', bulkError({ 0: 11_000 }, 0)],
  ['the error is about no document', bulkError({}, 0)],
  ['the error is not one of documents', Object.assign(new Error(), { code: 11_000 })],
])('no insert counts as done when %s', (_, error) => expect(results(error)).rejects.toBe(error))

test('an error of the connection is thrown as it is, without the wrapper of the driver', async () => {
  const cause = new mongodb.MongoNetworkError('gone')
  const error = new mongodb.MongoBulkWriteError(cause, { getWriteConcernError() {} } as never)
  await expect(results(error)).rejects.toBe(cause)
})

const NO_ANSWER = null as never

test('inserts succeed also if it cannot be found out why another one was refused', async () => {
  const error = bulkError({ 0: 11_000 }, 2)
  expect(await results(error, undefined, NO_ANSWER)).toEqual([StoreFailure, undefined, undefined])
})

const duplicate = { index: 0, code: 11_000, errmsg: 'no' }
const unconfirmed = { writeErrors: [duplicate], writeConcernError: { code: 64, errmsg: 'no' } }

test.each([
  ['an error of the connection', new mongodb.MongoNetworkError('gone')],
  ['another refusal', new mongodb.MongoServerError({ code: 121, errmsg: 'no' })],
  ['an unconfirmed duplicate', new mongodb.MongoWriteConcernError(unconfirmed as never)],
])('a single insert with %s is thrown as it is', async (_, error) => {
  await expect(results(error, ['a@x'])).rejects.toBe(error)
})

test.each([
  ['email', { email: 1 }, [], EmailTaken],
  ['the id', { _id: 1 }, [], IdTaken],
  ['the id, and a user has the email', { _id: 1 }, ['a@x'], EmailTaken],
  ['another field', { phone: 1 }, [], StoreFailure],
  ['nothing, and no user has the id any more', undefined, [], EmailTaken],
])('a duplicate key of %s', async (_, keyPattern, taken, expected) => {
  const cause = new mongodb.MongoServerError({ code: 11_000, errmsg: 'no', keyPattern })
  expect(await results(cause, ['a@x'], taken)).toEqual([expected])
})
