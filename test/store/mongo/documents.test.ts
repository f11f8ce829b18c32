// What insertEach makes of answers that no server here gives, and what goes to the server. (The rest is
// in store.test.ts.)
import { describe, expect, test } from '@jest/globals'
import {
  MongoBulkWriteError,
  MongoClient,
  MongoNetworkError,
  MongoServerError,
  ObjectId,
  type Collection,
} from 'mongodb'
import { findEach, insertEach, type UserDocument } from '../../../src/store/mongo/documents.ts'
import { EmailTaken, StoreFailure } from '../../../src/store/user-store.ts'
import { mongodbPlace } from '../../support/stores.ts'

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

describe('of one document', () => {
  /** What comes of one insert of which the driver says `error`. */
  async function outcome(error: Error, document: UserDocument): Promise<unknown> {
    const insertOne = async () => {
      throw error
    }
    const users = { insertOne } as unknown as Collection<UserDocument>
    const [outcome] = await insertEach(users, [document])
    return outcome?.constructor
  }
  const [withEmail, withoutEmail] = [documents[0]!, { _id: new ObjectId(), name: 'd' }]
  const duplicate = new MongoServerError({ message: 'no', code: 11_000 })

  test('a duplicate key is its email, if it has one', async () => {
    expect(await outcome(duplicate, withEmail)).toBe(EmailTaken)
    expect(await outcome(duplicate, withoutEmail)).toBe(StoreFailure)
  })

  test.each([
    ['another error of the server', new MongoServerError({ message: 'no', code: 121 })],
    ['one of the connection', new MongoNetworkError('gone')],
    [
      'one with the same code that is not the server’s',
      Object.assign(new Error(), { code: 11_000 }),
    ],
  ])('%s is thrown as it is', async (_, error) => {
    await expect(outcome(error, withEmail)).rejects.toBe(error)
  })
})

const testMongodb = process.env['MONGODB_URI'] ? test : test.skip

testMongodb('what is done for many, or for one, is one command', async () => {
  const place = mongodbPlace()
  const client = new MongoClient(place.mongodbUri!, { monitorCommands: true })
  const users = client.db().collection<UserDocument>('users')
  const sent: string[] = []
  client.on('commandStarted', ({ commandName }) => void sent.push(commandName))
  expect(await insertEach(users, documents)).toEqual([])
  expect(await insertEach(users, [{ _id: new ObjectId(), name: 'd' }])).toEqual([])
  const emails = documents.map(({ email }) => email)
  expect(await findEach(users, 'email', [...emails, 'x'])).toMatchObject([
    ...documents.map(({ name }) => ({ name })),
    undefined,
  ])
  expect(await findEach(users, '_id', [documents[0]!._id])).toMatchObject([{ name: 'a' }])
  expect(sent).toEqual(['insert', 'insert', 'find', 'find'])
  await client.close()
  await place.remove()
})
