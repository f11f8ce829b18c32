// Users in MongoDB. Knows the driver, as user-documents.ts does; nobody else.
import {
  MongoClient,
  MongoServerSelectionError,
  type Collection,
  type Filter,
  type ObjectId,
} from 'mongodb'
import { batched, type BatchObserver } from '../batch.ts'
import { readUser } from './bson.ts'
import { needsTurns, takeTurn, type Turn } from '../turns.ts'
import {
  createMany,
  findEach,
  insertEach,
  toDocument,
  toObjectId,
  type UserDocument,
} from './documents.ts'
import { isUserId, newUserId } from '../user-id.ts'
import { StoreFailure, type UserStore } from '../user-store.ts'

/** How long, in milliseconds, until a server that does not answer counts as unreachable. */
const PATIENCE = 2_000

/** The most users of `createMany`, and how long that may take, in milliseconds. */
const BULK = 1_000
const BULK_PATIENCE = 10_000

/** How many users of a list are fetched at once. */
const PAGE = 500

/** The most look-ups, or inserts, that travel together. */
const BATCH = 100

/** A user with more text than this, in UTF-16 code units, travels alone. */
const LONG = 10_000

const OPTIONS = {
  serverSelectionTimeoutMS: PATIENCE - 100, // so that it is known why PATIENCE ends
  connectTimeoutMS: PATIENCE,
  socketTimeoutMS: PATIENCE,
  w: 'majority', // by this name, and not in a `writeConcern`, the URI's own does not count
  journal: true,
  readPreference: 'primary', // a read sees every acknowledged write
} as const

/**
 * Connects to MongoDB at `uri` and makes sure of the unique index on email.
 *
 * @param uri a connection string; it names the database, `test` if it does not
 * @throws StoreFailure the server cannot be reached, or refuses
 */
export async function openMongoStore(
  uri: string,
  onBatch: BatchObserver = () => {},
): Promise<UserStore> {
  let current = connect(uri)
  const { client, users, description } = current
  let inTurns = false
  try {
    const index = { name: 'users_email_unique', unique: true, sparse: true }
    await users.createIndex({ email: 1 }, index)
    inTurns = await needsTurns(client.db())
  } catch (error) {
    await client.close()
    throw new StoreFailure(error, `open ${description}`)
  }

  /** Awaits a call of the driver, no longer than `patience`, and translates what it throws. */
  async function attempt<T>(
    call: (users: Collection<UserDocument>, turns: Collection<Turn>) => Promise<T>,
    patience = PATIENCE,
  ): Promise<T> {
    const { client, users, turns } = current
    try {
      return await inTime(call(users, turns), patience) // the driver retries, and each try has its own time
    } catch (error) {
      if (error instanceof MongoServerSelectionError && client === current.client) {
        // The driver's monitor can wait for ever on a connection that broke: driver 7.9 awaits the
        // `drain` of a destroyed socket. A new client always finds the server when it is back.
        current = connect(uri)
        close(client)
      }
      throw new StoreFailure(error)
    }
  }

  /** A function of one item that is done for many at once. */
  const together = <In, Out>(
    operation: string,
    run: (users: Collection<UserDocument>, items: In[]) => Promise<(Out | Error)[]>,
    limit = BATCH,
  ) =>
    batched<In, Out>(
      limit,
      (items) => attempt((users) => run(users, items)),
      (size) => onBatch(operation, size),
    )
  const findById = together('find', (users, ids: string[]) =>
    findEach(users, '_id', ids.map(toObjectId)),
  )
  const findByEmail = together('findByEmail', (users, emails: string[]) =>
    findEach(users, 'email', emails),
  )
  const insert = together('create', insertEach)
  const insertAlone = together('create', insertEach, 1)

  /** Changes the document of `who`, if there is one. @returns how many `change` has changed */
  async function changeOne(
    who: Filter<UserDocument> & { _id: ObjectId },
    change: (users: Collection<UserDocument>) => Promise<number>,
  ): Promise<number> {
    if (!inTurns) return attempt(change)
    const isThere = async () => (await attempt((users) => users.findOne(who))) !== null
    const turn = await takeTurn(who._id, (call) => attempt((_, turns) => call(turns)), isThere)
    if (!turn) return 0
    try {
      return await attempt(change)
    } finally {
      await turn.end()
    }
  }

  return {
    description,
    async create({ name, email }) {
      const user = { id: newUserId(), name, email }
      await (name.length + email.length > LONG ? insertAlone : insert)(toDocument(user))
      return user
    },
    most: BULK,
    createMany: (newcomers, update) =>
      attempt((users) => createMany(users, newcomers, update), BULK_PATIENCE),
    find: async (id) => (isUserId(id) ? findById(id) : undefined),
    findByEmail,
    async *list({ after, ids } = {}) {
      const which = ids ? { _id: { $in: ids.map(toObjectId) } } : behind(after)
      const cursor = current.users
        .find<Buffer>(which, { raw: true })
        .sort({ _id: 1 })
        .batchSize(PAGE)
      try {
        while (await attempt(() => cursor.hasNext())) {
          yield cursor.readBufferedDocuments().map(readUser)
        }
      } finally {
        close(cursor)
      }
    },
    async ids(after, limit) {
      const options = {
        projection: { _id: 1 },
        sort: { _id: 1 },
        limit,
        batchSize: limit + 1,
      } as const
      const found = await attempt((users) => users.find(behind(after), options).toArray())
      return found.map(({ _id }) => _id.toHexString())
    },
    async rename(id, name, ifName) {
      if (!isUserId(id)) return false
      const update = { $set: { name } }
      const who = one(id, ifName)
      const change = async (users: Collection<UserDocument>) =>
        (await users.updateOne(who, update)).matchedCount
      return (await changeOne(who, change)) > 0
    },
    async remove(id, ifName) {
      if (!isUserId(id)) return false
      const who = one(id, ifName)
      const change = async (users: Collection<UserDocument>) =>
        (await users.deleteOne(who)).deletedCount
      return (await changeOne(who, change)) > 0
    },
    isEmpty: async () => (await attempt((users) => users.findOne())) === null,
    close: () => attempt(() => current.client.close()),
  }
}

/** Whether there are users at `uri`, or have been. @throws StoreFailure */
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

/** A client of the server at `uri`; it connects at the first use. */
function connect(uri: string) {
  try {
    const client = new MongoClient(uri, OPTIONS)
    const users = client.db().collection<UserDocument>('users')
    const { srvHost, hosts, dbName } = client.options
    const turns = client.db().collection<Turn>('turns') // which MongoDB itself never gets
    return {
      client,
      users,
      turns,
      description: `MongoDB at ${srvHost ?? hosts.join(',')}/${dbName}`,
    }
  } catch (error) {
    throw new StoreFailure(error, 'use MONGODB_URI')
  }
}

/** Closes what a server that may be gone has no part in any more. Waits for nothing. */
function close(it: { close(): Promise<void> }): void {
  it.close().catch(() => {})
}

async function inTime<T>(answer: Promise<T>, patience: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${patience} ms`)), patience)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

/** The user with this id, and this name if one is given; who has no name reads as having an empty one. */
function one(id: string, ifName?: string): Filter<UserDocument> & { _id: ObjectId } {
  const name = ifName === '' ? { $in: ['', null as never] } : ifName
  return { _id: toObjectId(id), ...(name !== undefined && { name }) }
}

const behind = (id?: string): Filter<UserDocument> => (id ? { _id: { $gt: toObjectId(id) } } : {})
