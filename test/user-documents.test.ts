// What insertEach makes of answers that no server here gives. (The others are in store.test.ts.)
import { describe, expect, test } from '@jest/globals'
import { MongoBulkWriteError, MongoNetworkError, ObjectId, type Collection } from 'mongodb'
import { insertEach, type UserDocument } from '../src/store/user-documents.ts'
import { EmailTaken, StoreFailure } from '../src/store/user-store.ts'

const documents = ['a', 'b', 'c'].map((name) => ({ _id: new ObjectId(), name, email: `${name}@x` }))

/** What comes of three inserts of which the driver says `error`. */
async function outcomes(error: Error): Promise<unknown[]> {
  const insertMany = async () => {
    throw error
  }
  const users = { insertMany } as unknown as Collection<UserDocument>
  const all = await insertEach(users, documents)
  return all.map((outcome) => outcome && outcome.constructor)
}

/** The driver's error: `codes` by index, how many documents were inserted, and what is wrong with the write concern. */
function bulkError(codes: Record<number, number>, inserted: number, concern?: object): Error {
  const writeErrors = Object.entries(codes).map(([index, code]) => ({ index: Number(index), code }))
  const result = { insertedCount: inserted, getWriteConcernError: () => concern }
  const error = { message: 'no', code: 0, writeErrors }
  return new MongoBulkWriteError(error as never, result as never)
}

describe('of three documents', () => {
  test('those that were refused have their own errors, the others none', async () => {
    expect(await outcomes(bulkError({ 0: 11_000, 2: 121 }, 1))).toEqual([
      EmailTaken,
      undefined,
      StoreFailure,
    ])
  })

  test.each([
    ['the majority did not confirm', bulkError({ 0: 11_000 }, 2, { code: 64 })],
    ['fewer were inserted than were not refused', bulkError({ 0: 11_000 }, 0)],
    ['nothing is said of any', bulkError({}, 0)],
  ])('none is taken for stored when %s', async (_, error) => {
    await expect(outcomes(error)).rejects.toBe(error)
  })

  test('an error of the connection is the one that the driver has wrapped', async () => {
    const cause = new MongoNetworkError('gone')
    const error = new MongoBulkWriteError(cause, { getWriteConcernError() {} } as never)
    await expect(outcomes(error)).rejects.toBe(cause)
  })
})
