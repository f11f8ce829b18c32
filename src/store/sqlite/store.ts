// Users in a SQLite file; every write is durable. In src, only this folder uses the SQLite library, which has
// the interface of node:sqlite (https://nodejs.org/api/sqlite.html).
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { closeSync, constants, existsSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { letOthersIn, oneByOne } from '../../turns.ts'
import { batched, settleEach, type BatchObserver, type Call } from '../batch.ts'
import { COLUMNS, migrate, transaction } from './schema.ts'
import { pages, type Page } from '../pages.ts'
import { sharedReads } from './reads.ts'
import { newUserId } from '../user-id.ts'
import {
  EmailTaken,
  StoreFailure,
  type Newcomer,
  type Outcome,
  type User,
  type UserStore,
} from '../user-store.ts'

/** How long a write waits for a write of another process, and how often it tries, in milliseconds. */
const PATIENCE = 2_000
const PAUSE = 5

/** The most users in a page of a list, and the most bytes of text; a longer user gets a page of its own. */
const PAGE = 500
const PAGE_BYTES = 250_000

/** A user with more bytes of text is long. */
const LONG = 10_000

/** The most users of `createMany`. */
const MANY = 50_000

// Emails come in no order, so writes touch every page of their index. Keep these pages in memory (64 MB), and
// copy them from the log to the database rarely (40 MB). This makes an import of 400,000 users a third faster.
const FOR_MANY = 'PRAGMA cache_size = -64000; PRAGMA wal_autocheckpoint = 10000'

/**
 * How long the writes of one transaction may take, in milliseconds: some emails of a megabyte make each write
 * take 10 ms. With 64 connections, writing together makes POST several times as fast.
 */
const GROUP = 20

const FIELDS = Object.keys(COLUMNS) as (keyof User)[]

// The library cuts a text at its first NUL, when it writes and when it reads. So texts are written as
// bytes, and users are read as JSON, where NUL is escaped.
const TEXT = 'CAST(? AS TEXT)'
const USER = `json_object(${FIELDS.map((field) => `'${field}', ifnull(${field}, '')`).join(', ')})`
const LENGTH = FIELDS.map((field) => `ifnull(octet_length(${field}), 0)`).join(' + ')

/**
 * Opens the SQLite database `file`; makes it and its folder if they do not exist.
 *
 * @throws StoreFailure the file cannot be opened, or is not a database of users
 */
export function openSqliteStore(file: string, onBatch: BatchObserver = () => {}): UserStore {
  makeFile(file)
  return orFail(`open SQLite in ${file}`, () => {
    const db = open(file)
    return storeIn(db, `SQLite in ${file}`, onBatch)
  })
}

/**
 * Copies a consistent state of the database `file` to `target`, also while services use it.
 *
 * @throws StoreFailure there is no such database, or `target` exists
 */
export function backUpSqlite(file: string, target: string): void {
  orFail(`back up SQLite in ${file} to ${target}`, () => {
    const db = new DatabaseSync(file, { readOnly: true, timeout: PATIENCE })
    db.prepare('VACUUM INTO ?').run(target)
    db.close()
  })
}

function orFail<T>(task: string, call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw new StoreFailure(error, task)
  }
}

/** Makes the file, if it does not exist, so that only its owner can ever read it. */
function makeFile(file: string): void {
  const folder = dirname(file)
  orFail(`keep users in the folder ${folder} (DATA_DIR)`, () => {
    makeFolder(folder)
    for (const suffix of ['', '-wal', '-shm']) checkOwn(file + suffix)
    closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600))
  })
}

/** @throws Error another user can have planted the file, or can change it */
function checkOwn(file: string): void {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isFile()) throw new Error(`${file} is not a regular file`)
  if (found.uid !== (process.geteuid?.() ?? found.uid))
    throw new Error(`${file} belongs to another user`)
  if (found.mode & 0o002) throw new Error(`every user can write ${file}; use chmod 600`)
}

/** Does not use the option `recursive` of `mkdirSync`: on /proc/x, Node 20 and 24 would try forever. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(folder)) throw error // otherwise another process has just made it
  }
}

function open(file: string): DatabaseSyncInstance {
  const db = new DatabaseSync(file, { timeout: PATIENCE })
  // While another process does the same to a new file, SQLite fails without waiting.
  for (const deadline = performance.now() + PATIENCE; ;) {
    try {
      db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
      break
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error
    }
  }
  migrate(db)
  db.exec('PRAGMA busy_timeout = 0') // from now on attempt() waits, which does not block the process
  return db
}

function storeIn(db: DatabaseSyncInstance, description: string, onBatch: BatchObserver): UserStore {
  const texts = FIELDS.map(() => TEXT).join(', ')
  const insert = db.prepare(
    `INSERT INTO users (${FIELDS.join(', ')}) VALUES (${texts}) ON CONFLICT DO NOTHING`,
  )
  const renameByEmail = db.prepare(
    `UPDATE users SET name = ${TEXT} WHERE email = ${TEXT} AND name <> ${TEXT}`,
  )
  const byEmail = db.prepare(`SELECT 1 FROM users WHERE email = ${TEXT}`)
  const idsAfter = db.prepare('SELECT id FROM users WHERE id > ? ORDER BY id LIMIT ?')
  const rename = db.prepare(
    `UPDATE users SET name = ${TEXT} WHERE id = ${TEXT} AND name = ifnull(${TEXT}, name)`,
  )
  const remove = db.prepare(`DELETE FROM users WHERE id = ${TEXT} AND name = ifnull(${TEXT}, name)`)
  const any = db.prepare('SELECT 1 FROM users LIMIT 1')
  const reads = sharedReads(db)
  const pageAfter = pager(db, 'id > ?')
  const pageAmong = pager(db, 'id IN (SELECT value FROM json_each(?))')

  /** Makes a call that must not be in the transaction of reads. */
  const alone = <T>(call: () => T): Promise<T> =>
    attempt(() => {
      reads.end()
      return call()
    })

  /**
   * A write within a transaction. If it fails, it undoes only itself, unless SQLite had to undo the whole
   * transaction (https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction).
   *
   * @returns whether it changed a user, or why it failed
   */
  function write(run: Write): boolean | Error {
    try {
      return Number(run().changes) > 0
    } catch (error) {
      if (!db.isTransaction) throw error
      return new StoreFailure(error)
    }
  }

  /** The outcomes of the first of the writes: of as many as there is time for in one transaction. */
  function writeInTime(calls: Call<Write, boolean>[]): (boolean | Error)[] {
    const all: (boolean | Error)[] = []
    const end = performance.now() + GROUP
    for (const { item } of calls) {
      all.push(write(item))
      if (performance.now() > end) break
    }
    return all
  }

  async function commitAll(calls: Call<Write, boolean>[]): Promise<void> {
    for (let left = calls; left.length > 0;) {
      const start = performance.now()
      const done = await alone(() => transaction(db, () => writeInTime(left)))
      onBatch('write', done.length)
      settleEach(left.slice(0, done.length), done)
      left = left.slice(done.length)
      if (performance.now() - start > GROUP) await letOthersIn()
    }
  }
  const commit = batched(commitAll, { most: Infinity, runs: 1, onBatch() {} })

  const readPage = oneByOne()
  const readLong = oneByOne()

  /** Returns a function that finds the user whose `field` is a value. */
  function finder(field: keyof User): (value: string) => Promise<User | undefined> {
    const from = `FROM users WHERE ${field} = ${TEXT}`
    const ifShort = db.prepare(`SELECT iif(${LENGTH} <= ${LONG}, ${USER}, NULL) AS user ${from}`)
    const always = db.prepare(`SELECT ${USER} AS user ${from}`)
    return async (value) => {
      const read = (query: typeof always) =>
        attempt(() => {
          reads.join()
          return query.get(bytes(value)) as UserRow | undefined
        })
      const row = await read(ifShort)
      return userIn(row?.user === null ? await readLong(() => read(always)) : row)
    }
  }

  function createNew({ id = newUserId(), ...fields }: Newcomer, update: boolean): Outcome {
    const { name, email } = fields
    if (insert.run(...valuesOf({ id, ...fields })).changes > 0) return 'created'
    if (email === '' || !byEmail.get(bytes(email))) return 'id taken'
    return update && renameByEmail.run(bytes(name), bytes(email), bytes(name)).changes > 0
      ? 'updated'
      : 'email taken'
  }

  return {
    description,
    async create(fields) {
      const user = { id: newUserId(), ...fields }
      const isCreated = await commit(() => insert.run(...valuesOf(user)))
      if (!isCreated) throw new EmailTaken(user.email)
      return user
    },
    most: MANY,
    createMany(users, update) {
      const createAll = () => users.map((user) => createNew(user, update))
      return alone(() => {
        db.exec(FOR_MANY)
        return transaction(db, createAll)
      })
    },
    find: finder('id'),
    findByEmail: finder('email'),
    list: (which = {}) =>
      pages(which, ({ after, ids }) =>
        readPage(() => attempt(() => (ids ? pageAmong(JSON.stringify(ids)) : pageAfter(after)))),
      ),
    ids: async (after = '', limit) => {
      const rows = await attempt(() => idsAfter.all(after, limit))
      return (rows as { id: string }[]).map(({ id }) => id)
    },
    rename: (id, name, ifName) => commit(() => rename.run(bytes(name), bytes(id), bytesIf(ifName))),
    remove: (id, ifName) => commit(() => remove.run(bytes(id), bytesIf(ifName))),
    isEmpty: () => attempt(() => any.get() === undefined),
    async close() {
      // The library's close() leaves the data in the write-ahead log, which is also durable. If the checkpoint
      // fails, the next process that opens the database reads the log.
      await alone(() => db.exec('PRAGMA wal_checkpoint(TRUNCATE)')).catch(() => {})
      await alone(() => db.close())
    },
  }
}

/** A user as JSON; null if the query leaves out long ones. */
type UserRow = { user: string | null }

const userIn = (row?: UserRow): User | undefined => (row?.user ? JSON.parse(row.user) : undefined)

type Write = () => { changes: number | bigint }

/** Returns a function that reads one page: the first users that meet `condition`. A page may have a single long user. */
function pager(db: DatabaseSyncInstance, condition: string): (value: string) => Page {
  const from = `FROM users WHERE ${condition} ORDER BY id LIMIT ?`
  const page = db.prepare(`SELECT json_group_array(${USER}) AS users FROM (SELECT * ${from})`)
  // octet_length() of a plain column, as here, does not read the text.
  const size = db.prepare(`SELECT sum(length) AS bytes FROM (SELECT ${LENGTH} AS length ${from})`)
  return (value) => {
    let limit = PAGE
    const isTooLong = () => (size.get(value, limit) as { bytes: number }).bytes > PAGE_BYTES
    while (limit > 1 && isTooLong()) limit = Math.ceil(limit / 4)
    const users = JSON.parse((page.get(value, limit) as { users: string }).users) as User[]
    return { users, isLast: users.length < limit }
  }
}

const bytes = (text: string): Buffer => Buffer.from(text)
const bytesIf = (text?: string): Buffer | null => (text === undefined ? null : bytes(text))

/** The values of a user's columns, in their order. */
const valuesOf = (user: User): (Buffer | null)[] =>
  FIELDS.map((field) => (field === 'email' && user.email === '' ? null : bytes(user[field])))

const BUSY = 5 // https://www.sqlite.org/rescode.html; the low byte is the primary code
const isBusy = (error: unknown): boolean =>
  ((error as { errcode?: number }).errcode ?? 0) % 256 === BUSY

/** Makes a call of the library; tries again while another process is writing. */
async function attempt<T>(call: () => T): Promise<T> {
  for (const deadline = performance.now() + PATIENCE; ; await sleep(PAUSE)) {
    try {
      return call()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw new StoreFailure(error)
    }
  }
}
