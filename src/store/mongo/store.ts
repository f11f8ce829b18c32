// Users in MongoDB. In src, only this folder uses the driver.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { batched, type Client } from '../../chassis/index.ts'
import { createdAt, isUserId, newUserId } from '../user-id.ts'
import type { StoreOptions, User, UserStore } from '../user-store.ts'
import { openConnection, type Execute } from './connection.ts'
import { changer, type Write } from './changes.ts'
import { findFirstId } from './collection.ts'
import { insertEach } from './inserts.ts'
import { userOf, type Fields } from './documents.ts'
import { findFields, lister } from './lists.ts'

/**
 * The most look-ups, or inserts, in one command. With 64 connections this serves 2.4 times as many GETs
 * by id, and 2 to 5 times as many POSTs.
 */
const MAX_BATCH_SIZE = 100

/** The inserts at a time. With those of changes.ts and the look-ups, fewer than the driver has connections. */
const MAX_INSERTS = 8

/**
 * Opens the store in MongoDB at `uri`, without waiting for the server: the first call connects. It checks that every `_id`
 * is an ObjectId, and makes sure that email has a unique index, unless the store is only read.
 *
 * @param uri a connection string; if it names no database, the database is `test`
 * @throws StoreFailure the connection string is not valid
 */
export function openMongoStore(uri: string, options: StoreOptions = {}): UserStore {
  const { description, execute, close } = openConnection(uri, options)
  const findById = finder(execute, 'id')
  const findByEmail = finder(execute, 'email')
  const change = changer(execute, findById)
  const insert = batched(
    (newUsers: User[]) => execute((users) => insertEach(users, newUsers)),
    // An import goes on in the order of its file: the first user with an email is stored.
    { maxBatchSize: MAX_BATCH_SIZE, concurrency: options.isProgram ? 1 : MAX_INSERTS },
  )
  return {
    description,
    system: 'mongodb',
    async create({ id = newUserId(), ...fields }, client) {
      const user = { id, ...fields }
      await insert(user, client)
      return user
    },
    find: async (id, client) => (isUserId(id) ? toUser(await findById(id, client)) : undefined),
    findByEmail: async (email, client) => toUser(await findByEmail(email, client)),
    list: lister(execute),
    rename: (id, changes, condition, client) => {
      const update = { $set: changes }
      const rename: Write = async (users, filter) =>
        (await users.updateOne(filter, update)).matchedCount > 0
      return change({ id, write: rename, condition }, client)
    },
    remove: (id, condition, client) => change({ id, write: remove, condition }, client),
    oldest: async () => createdAt(await execute(findFirstId)),
    close,
  }
}

const remove: Write = async (users, filter) => (await users.deleteOne(filter)).deletedCount > 0

/** Returns a function that finds the document whose `field` has a value. */
function finder(execute: Execute, field: 'id' | 'email') {
  const findEach = async (values: string[]) => {
    const found = await execute((users) => findFields(users, field, values))
    return values.map((value) => found.get(value))
  }
  // Two commands at a time, because the documents of each are in memory together.
  const find = batched(findEach, { maxBatchSize: MAX_BATCH_SIZE, concurrency: 2 })
  // One turn of the event loop for each large user: as text in V8's heap, a user takes several times its size, and all
  // calls of a batch go on at once.
  const turn = batched(async (fields: Fields[]) => nextTurn(fields), {
    maxBatchSize: 1,
    concurrency: 1,
  })
  return async (value: string, client?: Client): Promise<Fields | undefined> => {
    const fields = await find(value, client)
    const isLarge = fields?._id && fields._id.document.length > LARGE_BYTES
    return isLarge ? turn(fields, client) : fields
  }
}

/** A document with more bytes is large. */
const LARGE_BYTES = 4 * 1024

/** Not done for a whole batch: if a field is not text, only the call for this user fails. */
const toUser = (fields: Fields | undefined): User | undefined => fields && userOf(fields)
