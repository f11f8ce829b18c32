// Users in a SQLite file, durable at every write. The only file that knows the SQLite library,
// which has the interface of node:sqlite (https://nodejs.org/api/sqlite.html).
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { batched, type BatchObserver } from './batch.ts'
import { isUserId, newUserId } from './user-id.ts'
import {
  EmailTaken,
  StoreFailure,
  type Newcomer,
  type Outcome,
  type User,
  type UserStore,
} from './user-store.ts'

// No email is NULL, which a unique index does not compare.
const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS users (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT UNIQUE
  ) STRICT;`

// The library ends a text at its first NUL, on the way in and on the way out. So texts go in as
// bytes, and users come out as JSON, in which NUL is escaped.
const TEXT = 'CAST(? AS TEXT)'
const USER = `json_object('id', id, 'name', name, 'email', ifnull(email, ''))`

/** How long a write waits for one of another process, and how often it looks, in milliseconds. */
const PATIENCE = 2_000
const PAUSE = 5

/** The most users of a list that are fetched at once, and the most bytes of text, but for one user's. */
const PAGE = 500
const PAGE_BYTES = 1_000_000

// The next users of a list: behind an id, or with one of the ids in a JSON array.
const BEHIND = 'SELECT * FROM users WHERE id > ? ORDER BY id LIMIT ?'
const AMONG = 'SELECT * FROM users WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id LIMIT ?'

// One row for a page.
const pageOf = (next: string) => `SELECT json_group_array(${USER}) AS users FROM (${next})`
const bytesOf = (next: string) => `
  SELECT sum(octet_length(name) + ifnull(octet_length(email), 0)) AS bytes FROM (${next})`

// Emails come in any order: most pages of their index stay in memory (64 MB), and are copied from the
// log to the database when they have changed many times (40 MB).
const FOR_MANY = 'PRAGMA cache_size = -64000; PRAGMA wal_autocheckpoint = 10000'

/** The most users of `createMany`. */
const MANY = 50_000

/** The most look-ups in one go, and writes in one transaction. */
const GROUP = 1_000

/**
 * Opens the SQLite database `file`, making it and its folder if need be.
 *
 * @throws StoreFailure the file cannot be opened, or is no database of users
 */
export function openSqliteStore(file: string, onBatch: BatchObserver = () => {}): UserStore {
  try {
    return storeIn(open(file), `SQLite in ${file}`, onBatch)
  } catch (error) {
    throw new StoreFailure(error, `open SQLite in ${file}`)
  }
}

/**
 * Copies the database `file` to `target`, as it is at one moment, while services use it.
 *
 * @throws StoreFailure there is no such database, or there is something at `target`
 */
export function backUpSqlite(file: string, target: string): void {
  try {
    const db = new DatabaseSync(file, { readOnly: true, timeout: PATIENCE })
    db.prepare('VACUUM INTO ?').run(target)
    db.close()
  } catch (error) {
    throw new StoreFailure(error, `back up SQLite in ${file} to ${target}`)
  }
}

function open(file: string): DatabaseSyncInstance {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  closeSync(openSync(file, 'a', 0o600)) // its owner's alone, from the first byte on
  const db = new DatabaseSync(file, { timeout: PATIENCE })
  db.exec(SCHEMA)
  db.exec('PRAGMA busy_timeout = 0') // SQLite would wait by blocking the process; attempt() does not
  return db
}

function storeIn(db: DatabaseSyncInstance, description: string, onBatch: BatchObserver): UserStore {
  const insert = db.prepare(`INSERT INTO users VALUES (?, ${TEXT}, ${TEXT})`)
  const insertNew = db.prepare(
    `INSERT INTO users VALUES (?, ${TEXT}, ${TEXT}) ON CONFLICT DO NOTHING`,
  )
  const renameByEmail = db.prepare(
    `UPDATE users SET name = ${TEXT} WHERE email = ${TEXT} AND name <> ${TEXT}`,
  )
  const byId = db.prepare(`SELECT ${USER} AS user FROM users WHERE id = ?`)
  const byEmail = db.prepare(`SELECT ${USER} AS user FROM users WHERE email = ${TEXT}`)
  const idsBehind = db.prepare('SELECT id FROM users WHERE id > ? ORDER BY id LIMIT ?')
  const rename = db.prepare(`UPDATE users SET name = ${TEXT} WHERE id = ?`)
  const renameIf = db.prepare(`UPDATE users SET name = ${TEXT} WHERE id = ? AND name = ${TEXT}`)
  const remove = db.prepare('DELETE FROM users WHERE id = ?')
  const removeIf = db.prepare(`DELETE FROM users WHERE id = ? AND name = ${TEXT}`)
  const any = db.prepare('SELECT 1 FROM users LIMIT 1')

  /** A function that gets the next users: as many as make a page, one at least. */
  function pager(next: string): (from: string) => User[] {
    const page = db.prepare(pageOf(next))
    const size = db.prepare(bytesOf(next))
    return (from) => {
      let limit = PAGE
      const tooLong = () => (size.get(from, limit) as { bytes: number }).bytes > PAGE_BYTES
      while (limit > 1 && tooLong()) limit = Math.ceil(limit / 4)
      return JSON.parse((page.get(from, limit) as { users: string }).users) as User[]
    }
  }
  const pageBehind = pager(BEHIND)
  const pageAmong = pager(AMONG)

  /** A function of one item that is done for many at once. */
  const together = <In, Out>(operation: string, run: (items: In[]) => (Out | Error)[]) =>
    batched<In, Out>(
      GROUP,
      (items) => attempt(() => run(items)),
      (size) => onBatch(operation, size),
    )
  const findById = together('find', (ids: string[]) => ids.map((id) => parse(byId.get(id))))
  const findByEmail = together('findByEmail', (emails: string[]) =>
    emails.map((email) => parse(byEmail.get(bytes(email)))),
  )
  const transaction = transactionIn(db)

  /**
   * A write within a transaction; one that fails undoes itself alone, unless SQLite had to undo all
   * (https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction).
   *
   * @returns how many rows it changed, or why it failed
   */
  function write({ run, email }: Write): number | Error {
    try {
      return Number(run().changes)
    } catch (error) {
      if (!db.isTransaction) throw error
      return translate(error, email)
    }
  }
  const commit = together('write', (writes: Write[]) => transaction(() => writes.map(write)))

  function createNew({ id = newUserId(), name, email }: Newcomer, update: boolean): Outcome {
    const [stored, called] = [email === '' ? null : bytes(email), bytes(name)]
    if (insertNew.run(id, called, stored).changes > 0) return 'created'
    if (stored === null || !byEmail.get(stored)) return 'id taken'
    return update && renameByEmail.run(called, stored, called).changes > 0
      ? 'updated'
      : 'email taken'
  }

  return {
    description,
    async create({ name, email }) {
      const user = { id: newUserId(), name, email }
      const stored = email === '' ? null : bytes(email)
      await commit({ run: () => insert.run(user.id, bytes(name), stored), email })
      return user
    },
    most: MANY,
    createMany(users, update) {
      db.exec(FOR_MANY)
      return attempt(() => transaction(() => users.map((user) => createNew(user, update))))
    },
    find: async (id) => (isUserId(id) ? findById(id) : undefined),
    findByEmail,
    async *list({ after = '', ids } = {}) {
      const among = () => pageAmong(JSON.stringify(ids!.filter((id) => id > after)))
      const next = ids ? among : () => pageBehind(after)
      for (;;) {
        const users = await attempt(next)
        const last = users.at(-1)
        if (!last) return
        yield users
        after = last.id
        await turn() // lets other requests in
      }
    },
    ids: async (after = '', limit) => {
      const found = await attempt(() => idsBehind.all(after, limit))
      return (found as { id: string }[]).map(({ id }) => id)
    },
    rename: async (id, name, ifName) => {
      const run = () =>
        ifName === undefined
          ? rename.run(bytes(name), id)
          : renameIf.run(bytes(name), id, bytes(ifName))
      return isUserId(id) && (await commit({ run })) > 0
    },
    remove: async (id, ifName) => {
      const run = () => (ifName === undefined ? remove.run(id) : removeIf.run(id, bytes(ifName)))
      return isUserId(id) && (await commit({ run })) > 0
    },
    isEmpty: async () => attempt(() => any.get() === undefined),
    close: async () => {
      emptyLog(db)
      await attempt(() => db.close())
    },
  }
}

interface Write {
  run: () => { changes: number | bigint }
  /** That of a new user, which may be taken. */
  email?: string
}

/** A function that does what it is given in one transaction: one wait for the disk. */
function transactionIn(db: DatabaseSyncInstance): <T>(work: () => T) => T {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  return (work) => {
    begin.run()
    try {
      const outcome = work()
      commit.run()
      return outcome
    } catch (error) {
      if (db.isTransaction) rollback.run()
      throw error
    }
  }
}

/**
 * Moves what is in the log to the database, if nobody is in the way. The library's close() does not, as
 * it leaves the statements that were prepared. What stays in the log is as durable.
 */
function emptyLog(db: DatabaseSyncInstance): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // a full disk, or another process: the next one that opens the database reads the log
  }
}

const bytes = (text: string): Buffer => Buffer.from(text)

const parse = (row: unknown): User | undefined => row && JSON.parse((row as { user: string }).user)

// Result codes, https://www.sqlite.org/rescode.html; the low byte is the primary one.
const BUSY = 5
const UNIQUE_VIOLATION = 2067

const codeOf = (error: unknown): number => (error as { errcode?: number }).errcode ?? 0

/** Makes a call of the driver, again while another process is writing, and translates what it throws. */
async function attempt<T>(call: () => T): Promise<T> {
  for (const deadline = performance.now() + PATIENCE; ; await sleep(PAUSE)) {
    try {
      return call()
    } catch (error) {
      const isBusy = (codeOf(error) & 0xff) === BUSY
      if (!isBusy || performance.now() >= deadline) throw translate(error)
    }
  }
}

function translate(error: unknown, email?: string): EmailTaken | StoreFailure {
  const taken = codeOf(error) === UNIQUE_VIOLATION && email !== undefined
  return taken ? new EmailTaken(email, { cause: error }) : new StoreFailure(error)
}
