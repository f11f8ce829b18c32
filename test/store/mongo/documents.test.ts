// What insertEach makes of errors that no server here gives. (The rest: ../user-store.test.ts.)
import { expect, test } from '@jest/globals'
import { MongoBulkWriteError, MongoNetworkError, ObjectId, type Collection } from 'mongodb'
import { insertEach, type UserDocument } from '../../../src/store/mongo/documents.ts'
import { EmailTaken, StoreFailure } from '../../../src/store/user-store.ts'

/** The outcomes of three inserts, of which the last has no email, for an error of the driver. */
async function outcomes(error: Error): Promise<unknown[]> {
  const insertMany = async () => {
    throw error
  }
  const users = { insertMany } as unknown as Collection<UserDocument>
  const documents = ['a@x', 'b@x', undefined].map((email) => {
    return { _id: new ObjectId(), name: 'x', ...(email && { email }) }
  })
  const errors = await insertEach(users, documents)
  return errors.map((one) => one?.constructor)
}

/** The driver's error: `codes` by index, how many documents it inserted, and an error of the write concern. */
function bulkError(codes: Record<number, number>, inserted: number, concern?: object): Error {
  const writeErrors = Object.entries(codes).map(([index, code]) => ({ index: Number(index), code }))
  const result = { insertedCount: inserted, getWriteConcernError: () => concern }
  const error = { message: 'no', code: 0, writeErrors }
  return new MongoBulkWriteError(error as never, result as never)
}

test.each([
  ['a duplicate email', { 0: 11_000 }, [EmailTaken, undefined, undefined]],
  ['a duplicate key without an email', { 2: 11_000 }, [undefined, undefined, StoreFailure]],
  ['several errors', { 0: 11_000, 1: 121 }, [EmailTaken, StoreFailure, undefined]],
])('%s fails its own insert only', async (_, codes, expected) => {
  expect(await outcomes(bulkError(codes, 3 - Object.keys(codes).length))).toEqual(expected)
})

test.each([
  ['the majority did not confirm', bulkError({ 0: 11_000 }, 2, { code: 64 })],
  ['fewer were inserted than were not refused', bulkError({ 0: 11_000 }, 0)],
  ['the error is about no document', bulkError({}, 0)],
  ['the error is not one of documents', Object.assign(new Error(), { code: 11_000 })],
])('no insert counts as done when %s', async (_, error) => {
  await expect(outcomes(error)).rejects.toBe(error)
})

test('an error of the connection is thrown as it is, without the wrapper of the driver', async () => {
  const cause = new MongoNetworkError('gone')
  const error = new MongoBulkWriteError(cause, { getWriteConcernError() {} } as never)
  await expect(outcomes(error)).rejects.toBe(cause)
})
