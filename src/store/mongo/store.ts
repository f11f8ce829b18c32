// Users in MongoDB. In src, only this folder uses the driver.
import {
  MongoClient,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  type Collection,
  type Filter,
} from 'mongodb'
import { atMost, batched, outcomes, type BatchObserver } from '../batch.ts'
import { isAway, TimedOut } from './away.ts'
import {
  createMany,
  insertEach,
  toDocument,
  toObjectId,
  USERS,
  type UserDocument,
} from './documents.ts'
import { lists } from './lists.ts'
import { BATCH, isLong, lookUps } from './look-ups.ts'
import { isUserId, newUserId } from '../user-id.ts'
import { StoreFailure, type UserStore } from '../user-store.ts'

/** How long to wait for a response of the server, in milliseconds. */
const PATIENCE = 2_000

/** The most users of `createMany`, and how long that, and the first call, may take, in milliseconds. */
const MANY = 1_000
const MANY_PATIENCE = 10_000

const OPTIONS = {
  serverSelectionTimeoutMS: PATIENCE - 100, // less than PATIENCE, so that the error has a reason, not just a time-out
  connectTimeoutMS: PATIENCE,
  socketTimeoutMS: PATIENCE,
  w: 'majority', // not inside `writeConcern`, which would not override the URI
  journal: true,
  readPreference: 'primary', // a read sees every acknowledged write
} as const

/**
 * Opens the store in MongoDB at `uri`, and makes sure that email has a unique index.
 *
 * @param uri a connection string; if it names no database, the database is `test`
 * @param mayBeAway whether the server may be unreachable for now; then every call fails until it is there
 * @throws StoreFailure the server refuses, or it cannot be reached and may not be away
 */
export async function openMongoStore(
  uri: string,
  onBatch: BatchObserver = () => {},
  mayBeAway = false,
): Promise<UserStore> {
  let hasIndex = false
  // A server that comes back may be empty. The driver's monitor notices that it was away only if it streams.
  const onLoss = () => void (hasIndex = false)
  const connectAgain = () => {
    const connected = connect(uri)
    connected.client.on('connectionClosed', onLoss).on('connectionPoolCleared', onLoss)
    return connected
  }
  let current = connectAgain()
  const { description } = current

  async function makeIndex(users: Collection<UserDocument>): Promise<void> {
    const options = { name: 'users_email_unique', unique: true, sparse: true }
    await users.createIndex({ email: 1 }, options)
    hasIndex = true
  }

  /** Makes a call of the driver, waits for it no longer than `patience`, and translates its errors. */
  async function attempt<T>(
    call: (users: Collection<UserDocument>) => Promise<T>,
    patience = PATIENCE,
  ): Promise<T> {
    const { client, users } = current
    try {
      if (!hasIndex) await inTime(makeIndex(users), patience)
      return await inTime(call(users), patience)
    } catch (error) {
      const isCurrent = client === current.client // otherwise it was closed during this call
      if (isCurrent && STUCK.some((kind) => error instanceof kind)) {
        current = connectAgain()
        release(client)
      }
      throw new StoreFailure(error, undefined, isCurrent && !isAway(error))
    }
  }

  try {
    await attempt(async () => {}, MANY_PATIENCE)
  } catch (error) {
    const { cause, isFinal } = error as StoreFailure
    if (!mayBeAway || isFinal) {
      release(current.client)
      throw new StoreFailure(cause, `open ${description}`)
    }
  }

  const lookUp = lookUps({ attempt, users: () => current.users, onBatch })
  const findById = lookUp('find', 'id', 8)
  const findByEmail = lookUp('findByEmail', 'email', 1) // a command has at most 48 MB

  const inserter = (most = BATCH) =>
    batched(
      outcomes((documents: UserDocument[]) => attempt((users) => insertEach(users, documents))),
      { most, onBatch: (size) => onBatch('create', size) },
    )
  const insertShort = inserter()
  const insertLong = inserter(1)

  /** Half of the driver's connections at a time, so that reads need not wait for many changes. */
  const change = atMost(50, (one: Change) => attempt(one))

  return {
    description,
    async create(fields) {
      const user = { id: newUserId(), ...fields }
      const insert = Object.values(user).some(isLong) ? insertLong : insertShort
      await insert(toDocument(user))
      return user
    },
    most: MANY,
    createMany: (newcomers, update) =>
      attempt((users) => createMany(users, newcomers, update), MANY_PATIENCE),
    find: async (id) => (isUserId(id) ? findById(id) : undefined),
    findByEmail,
    ...lists({ attempt, client: () => current.client }),
    async rename(id, name, ifName) {
      if (!isUserId(id)) return false
      const update = { $set: { name } }
      return change(async (users) => {
        const { matchedCount } = await users.updateOne(one(id, ifName), update)
        return matchedCount > 0
      })
    },
    async remove(id, ifName) {
      if (!isUserId(id)) return false
      return change(async (users) => {
        const { deletedCount } = await users.deleteOne(one(id, ifName))
        return deletedCount > 0
      })
    },
    isEmpty: async () => (await attempt((users) => users.findOne())) === null,
    close: () => inTime(current.client.close(), PATIENCE),
  }
}

/** Whether there is a collection of users at `uri`. @throws StoreFailure */
export async function isMongoStore(uri: string): Promise<boolean> {
  const { client, users, description } = connect(uri)
  try {
    const found = client.db().listCollections({ name: users.collectionName }, { nameOnly: true })
    return await found.hasNext()
  } catch (error) {
    throw new StoreFailure(error, `open ${description}`)
  } finally {
    await client.close()
  }
}

/**
 * Errors after which a new client is needed. The driver's monitor can wait forever on a broken connection:
 * driver 7.9 awaits the `drain` of a destroyed socket. A client that failed to connect stays closed.
 */
const STUCK = [MongoServerSelectionError, MongoTopologyClosedError]

/** A client of the server at `uri`; it connects at the first use. */
function connect(uri: string) {
  try {
    const client = new MongoClient(uri, OPTIONS)
    const users = client.db().collection<UserDocument>(USERS)
    const { srvHost, hosts, dbName } = client.options
    return { client, users, description: `MongoDB at ${srvHost ?? hosts.join(',')}/${dbName}` }
  } catch (error) {
    throw new StoreFailure(error, 'use MONGODB_URI')
  }
}

/** Closes without waiting, because the server may be gone. */
function release(it: { close(): Promise<void> }): void {
  it.close().catch(() => {})
}

/** The driver retries, and each try has its own time limit; its option `timeoutMS` has no effect in 7.9. */
async function inTime<T>(answer: Promise<T>, patience: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOut(patience)), patience)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

/** Renames or deletes a user. Resolves to whether there was one. */
type Change = (users: Collection<UserDocument>) => Promise<boolean>

/** The user with this id, and this name if one is given; a document without a name has an empty one. */
function one(id: string, ifName?: string): Filter<UserDocument> {
  const name = ifName === '' ? { $in: ['', null as never] } : ifName
  return { _id: toObjectId(id), ...(name !== undefined && { name }) }
}
