// A connection to MongoDB: makes calls of the driver within a time limit, translates their errors, and replaces
// a client that is stuck.
import { AsyncResource } from 'node:async_hooks'
import { MongoClient, MongoServerSelectionError, ReadPreference } from 'mongodb'
import { StoreFailure } from '../../chassis/index.ts'
import type { StoreOptions } from '../user-store.ts'
import { checkCollection, type UserDocument, type Users } from './collection.ts'
import { kindOf, TimeoutError } from './failure-kinds.ts'

/** How long a call waits for the server, in milliseconds: of the service, and of a program. */
const TIMEOUT_MS = 2_000
const LONG_TIMEOUT_MS = 10_000

/** How often to check the collection: another program may drop the index, as mongoose does by `syncIndexes()`. */
const RECHECK_MS = 15_000

const OPTIONS = {
  // Fixed: if the URI set these BSON options, the driver would misread replies and report failed inserts as stored.
  raw: false,
  promoteValues: true,
  promoteLongs: true,
  useBigInt64: false,
  serverSelectionTimeoutMS: TIMEOUT_MS - 100, // less, so that the error has a reason, not just a time-out
  connectTimeoutMS: TIMEOUT_MS - 500, // less again, so that the reason names a host that does not respond
  waitQueueTimeoutMS: TIMEOUT_MS, // then a call that nobody waits for any more is not begun
  maxConnecting: 100, // as many as the pool has: no call waits for the connection of another, however slow the server is
  socketTimeoutMS: LONG_TIMEOUT_MS, // the longest that any call waits
  writeConcern: { w: 'majority', j: true }, // `w` and `journal` outside it would not override `j` and `fsync` of the URI
  readPreference: ReadPreference.primary, // a read sees every acknowledged write; 'primary' would not override maxStalenessSeconds
} as const

/** Makes a call of the driver within the time limit, after a check if one is due. @throws StoreFailure */
export type Execute = <T>(call: (users: Users) => Promise<T>) => Promise<T>

/** A connection that connects at its first call, and first checks the collection. */
export function openConnection(uri: string, { readOnly = false, isProgram = false }: StoreOptions) {
  const timeoutMs = readOnly || isProgram ? LONG_TIMEOUT_MS : TIMEOUT_MS
  let current = connect(uri)
  const { description } = current

  const execute: Execute = async (call) => {
    const connection = current // another call may replace it meanwhile
    try {
      if (connection.closeReason) throw connection.closeReason // the driver would connect a closed client again
      if (isCheckDue(connection)) {
        const check = prepareOnce(connection, readOnly)
        if (connection.checkedAt === undefined) await withTimeout(check, timeoutMs)
        else check.catch(() => (connection.checkedAt = undefined)) // then the next call fails, too
      }
      return await withTimeout(call(connection.users), timeoutMs)
    } catch (error) {
      if (!connection.closeReason && isStuck(error, connection)) {
        current = connect(uri)
        discard(connection, error).catch(() => {}) // without waiting, because the server may be unreachable
      }
      if (error instanceof StoreFailure) throw error
      const cause = connection.closeReason ?? error // if another call closed it, `error` only says so
      throw new StoreFailure(cause, `use ${description}`, kindOf(cause))
    }
  }
  const close = () => withTimeout(discard(current, new Error('the store is closed')), TIMEOUT_MS)
  return { description, execute, close }
}

/** Closes the client. Calls in progress fail because of `reason`. */
function discard(connection: Connection, reason: unknown): Promise<void> {
  connection.closeReason = reason
  return connection.client.close()
}

/**
 * Whether a new client is needed after `error`. On a broken connection, the driver's monitor and `connect()` can
 * wait forever: driver 7.9 awaits the `drain` of a destroyed socket. The check itself may take longer than a call: a
 * slow server is not stuck.
 */
const isStuck = (error: unknown, { checkedAt, checking }: Connection): boolean =>
  error instanceof MongoServerSelectionError ||
  (error instanceof TimeoutError && checkedAt === undefined && checking === undefined)

function connect(uri: string) {
  const connection = {
    ...createClient(uri),
    checkedAt: undefined as number | undefined, // undefined after a disconnect, too
    checking: undefined as Promise<void> | undefined,
    closeReason: undefined as unknown,
  }
  // A server that comes back may be empty. The driver's monitor notices an outage only if it streams.
  const onDisconnect = () => (connection.checkedAt = undefined)
  connection.client.on('connectionClosed', onDisconnect).on('connectionPoolCleared', onDisconnect)
  return connection
}

type Connection = ReturnType<typeof connect>

const isCheckDue = ({ checkedAt }: Connection): boolean =>
  checkedAt === undefined || performance.now() > checkedAt + RECHECK_MS

/** Calls at the same time wait for the same check, which runs in the async context of none of them. */
function prepareOnce(connection: Connection, readOnly: boolean): Promise<void> {
  connection.checking ??= checkContext
    .runInAsyncScope(() => withTimeout(prepare(connection, readOnly), LONG_TIMEOUT_MS))
    .finally(() => {
      connection.checking = undefined
    })
  return connection.checking
}

const checkContext = new AsyncResource('MONGODB_CHECK')

async function prepare(connection: Connection, readOnly: boolean): Promise<void> {
  await connection.client.connect() // otherwise only one of several first calls is told why it fails
  if (connection.closeReason) {
    connection.client.close().catch(() => {}) // it was closed before it was connected
    throw connection.closeReason
  }
  await checkCollection(connection.users, readOnly)
  connection.checkedAt = performance.now()
}

/** A client of the server at `uri`; it connects at the first use. @throws StoreFailure */
function createClient(uri: string) {
  try {
    const client = new MongoClient(uri, OPTIONS)
    const users = client.db().collection<UserDocument>('users')
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
