// Users in MongoDB. The only file that knows the driver.
import { MongoClient, MongoServerError, ObjectId } from 'mongodb'
import { isUserId, newUserId } from './user-id.ts'
import { EmailTaken, StoreFailure, type User, type UserStore } from './user-store.ts'

/** A user as MongoDB keeps it. No email is no field, which a sparse index leaves out. */
interface UserDocument {
  _id: ObjectId
  name: string
  email?: string
}

/** How long, in milliseconds, until a server that does not answer counts as unreachable. */
const PATIENCE = 2_000

/** How many users of a list are fetched at once. */
const BATCH = 500

const OPTIONS = {
  serverSelectionTimeoutMS: PATIENCE,
  connectTimeoutMS: PATIENCE,
  socketTimeoutMS: PATIENCE,
  waitQueueTimeoutMS: PATIENCE,
  writeConcern: { w: 'majority', journal: true },
  readPreference: 'primary', // a read sees every acknowledged write
} as const

/**
 * Connects to MongoDB at `uri` and makes sure of the unique index on email.
 *
 * @param uri a connection string; it names the database, `test` if it does not
 * @throws StoreFailure the server cannot be reached, or refuses
 */
export async function openMongoStore(uri: string): Promise<UserStore> {
  const { client, users, description } = connect(uri)
  try {
    await users.createIndex(
      { email: 1 },
      { name: 'users_email_unique', unique: true, sparse: true },
    )
  } catch (error) {
    await client.close()
    throw new StoreFailure(error, `open ${description}`)
  }

  return {
    description,
    async create({ name, email }) {
      const id = newUserId()
      const document = { _id: new ObjectId(id), name, ...(email !== '' && { email }) }
      await attempt(() => users.insertOne(document), email)
      return { id, name, email }
    },
    async find(id) {
      if (!isUserId(id)) return undefined
      return toUser(await attempt(() => users.findOne(byId(id))))
    },
    async findByEmail(email) {
      if (email === '') return undefined
      return toUser(await attempt(() => users.findOne({ email })))
    },
    async *list() {
      const cursor = users.find().sort({ _id: 1 }).batchSize(BATCH)
      try {
        for (;;) {
          const user = toUser(await attempt(() => cursor.next()))
          if (!user) return
          yield user
        }
      } finally {
        cursor.close().catch(() => {}) // a server that is gone has forgotten it, too
      }
    },
    async rename(id, name) {
      if (!isUserId(id)) return false
      const { matchedCount } = await attempt(() => users.updateOne(byId(id), { $set: { name } }))
      return matchedCount > 0
    },
    async remove(id) {
      if (!isUserId(id)) return false
      return (await attempt(() => users.deleteOne(byId(id)))).deletedCount > 0
    },
    isEmpty: async () => (await attempt(() => users.findOne())) === null,
    close: () => attempt(() => client.close()),
  }
}

/** Connects at the first use, not yet here. */
function connect(uri: string) {
  try {
    const client = new MongoClient(uri, OPTIONS)
    const users = client.db().collection<UserDocument>('users')
    const { srvHost, hosts, dbName } = client.options
    return { client, users, description: `MongoDB at ${srvHost ?? hosts.join(',')}/${dbName}` }
  } catch (error) {
    throw new StoreFailure(error, 'use MONGODB_URI')
  }
}

const byId = (id: string) => ({ _id: new ObjectId(id) })

function toUser(document: UserDocument | null): User | undefined {
  if (!document) return undefined
  return { id: document._id.toHexString(), name: document.name, email: document.email ?? '' }
}

const DUPLICATE_KEY = 11000 // https://www.mongodb.com/docs/manual/reference/error-codes/

/** Awaits a call of the driver, no longer than PATIENCE, and translates what it throws. */
async function attempt<T>(call: () => Promise<T>, email?: string): Promise<T> {
  let timer
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE} ms`)), PATIENCE)
  })
  try {
    return await Promise.race([call(), late]) // the driver retries, and each try has its own time
  } catch (error) {
    const taken = error instanceof MongoServerError && error.code === DUPLICATE_KEY
    if (taken && email) throw new EmailTaken(email, { cause: error })
    throw new StoreFailure(error)
  } finally {
    clearTimeout(timer)
  }
}
