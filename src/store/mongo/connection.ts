// A connection to MongoDB: makes calls of the driver within a time limit, translates their errors, and replaces
// a client that is stuck.
import { MongoClient, MongoNetworkError, MongoServerSelectionError } from 'mongodb'
import { StoreFailure } from '../user-store.ts'
import { USERS, type UserDocument, type Users } from './documents.ts'
import { kindOf, TimeoutError } from './failure-kinds.ts'

/** How long a call waits for the server, in milliseconds: by default, and for an import or to open the store. */
const TIMEOUT_MS = 2_000
export const LONG_TIMEOUT_MS = 10_000

const OPTIONS = {
  serverSelectionTimeoutMS: TIMEOUT_MS - 100, // less, so that the error has a reason, not just a time-out
  connectTimeoutMS: TIMEOUT_MS - 500, // less again, so that the reason names a host that does not respond
  socketTimeoutMS: TIMEOUT_MS,
  w: 'majority', // not inside `writeConcern`, which would not override the URI
  journal: true,
  readPreference: 'primary', // a read sees every acknowledged write
} as const

/** Makes a call of the driver, and waits for it no longer than `timeoutMs`. @throws StoreFailure */
export type Execute = <T>(call: (users: Users) => Promise<T>, timeoutMs?: number) => Promise<T>

/** A connection that connects at its first call, and first makes sure that email has a unique index. */
export function openConnection(uri: string) {
  let current = connect(uri)
  const { description } = current

  const execute: Execute = async (call, timeoutMs = TIMEOUT_MS) => {
    const used = current
    try {
      if (used.failure) throw used.failure // closed: `connect` would open it again
      if (!used.hasIndex) await withTimeout(prepare(used), timeoutMs)
      return await withTimeout(call(used.users), timeoutMs)
    } catch (error) {
      if (used === current && !used.failure && isStuck(error, used.hasIndex)) {
        current = connect(uri)
        used.failure = error
        used.client.close().catch(() => {}) // without waiting, because the server may be unreachable
      }
      const cause = used.failure ?? error // the client may have been closed during this call
      throw new StoreFailure(cause, `use ${description}`, kindOf(cause))
    }
  }
  const close = () => {
    current.failure = new Error('the store is closed')
    return withTimeout(current.client.close(), TIMEOUT_MS)
  }
  return { description, execute, close }
}

/**
 * Whether a new client is needed after `error`. On a broken connection, the driver's monitor and `connect()` can
 * wait forever: driver 7.9 awaits the `drain` of a destroyed socket.
 */
const isStuck = (error: unknown, isPrepared: boolean): boolean =>
  error instanceof MongoServerSelectionError || (!isPrepared && error instanceof TimeoutError)

function connect(uri: string) {
  const created = { ...createClient(uri), hasIndex: false, failure: undefined as unknown }
  // A server that comes back may be empty. The driver's monitor notices an outage only if it streams.
  const onDisconnect = () => void (created.hasIndex = false)
  created.client.on('connectionClosed', onDisconnect).on('connectionPoolCleared', onDisconnect)
  return created
}

async function prepare(connected: ReturnType<typeof connect>): Promise<void> {
  await connected.client.connect() // otherwise only one of several first calls is told why it fails
  if (connected.failure) {
    connected.client.close().catch(() => {}) // it was closed before it was connected
    throw connected.failure
  }
  const options = { name: 'users_email_unique', unique: true, sparse: true }
  const create = () => connected.users.createIndex({ email: 1 }, options)
  await create().catch((error: unknown) => {
    if (!(error instanceof MongoNetworkError)) throw error
    return create() // the driver does not retry it, and one of its connections may be broken
  })
  connected.hasIndex = true
}

/** A client of the server at `uri`; it connects at the first use. @throws StoreFailure */
export function createClient(uri: string) {
  try {
    const client = new MongoClient(uri, OPTIONS)
    const users = client.db().collection<UserDocument>(USERS)
    const { srvHost, hosts, dbName } = client.options
    return { client, users, description: `MongoDB at ${srvHost ?? hosts.join(',')}/${dbName}` }
  } catch (error) {
    throw new StoreFailure(error, 'use MONGODB_URI')
  }
}

/** The driver retries, and each try has its own time limit; its option `timeoutMS` has no effect in 7.9. */
function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const onTimeout = () => reject(new TimeoutError(`timed out after ${timeoutMs} ms`))
    const timer = setTimeout(onTimeout, timeoutMs)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
