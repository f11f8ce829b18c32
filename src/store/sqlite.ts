// Users in a SQLite file, durable at every write. The only file that knows the SQLite library,
// which has the interface of node:sqlite (https://nodejs.org/api/sqlite.html).
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { isUserId, newUserId } from './user-id.ts'
import { EmailTaken, StoreFailure, type User, type UserStore } from './user-store.ts'

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
const USER = `json_object('id', id, 'name', name, 'email', ifnull(email, '')) AS user`

/** How long a write waits for one of another process, and how often it looks, in milliseconds. */
const PATIENCE = 2_000
const PAUSE = 5

/** How many users of a list are fetched at once. */
const PAGE = 500

/**
 * Opens the SQLite database `file`, making it and its folder if need be.
 *
 * @throws StoreFailure the file cannot be opened, or is no database of users
 */
export function openSqliteStore(file: string): UserStore {
  try {
    return storeIn(open(file), `SQLite in ${file}`)
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

function storeIn(db: DatabaseSyncInstance, description: string): UserStore {
  const insert = db.prepare(`INSERT INTO users VALUES (?, ${TEXT}, ${TEXT})`)
  const byId = db.prepare(`SELECT ${USER} FROM users WHERE id = ?`)
  const byEmail = db.prepare(`SELECT ${USER} FROM users WHERE email = ${TEXT}`)
  const page = db.prepare(`SELECT id, ${USER} FROM users WHERE id > ? ORDER BY id LIMIT ${PAGE}`)
  const rename = db.prepare(`UPDATE users SET name = ${TEXT} WHERE id = ?`)
  const remove = db.prepare('DELETE FROM users WHERE id = ?')
  const any = db.prepare('SELECT 1 FROM users LIMIT 1')

  return {
    description,
    async create({ name, email }) {
      const user = { id: newUserId(), name, email }
      await attempt(
        () => insert.run(user.id, bytes(name), email === '' ? null : bytes(email)),
        email,
      )
      return user
    },
    find: async (id) => (isUserId(id) ? attempt(() => parse(byId.get(id))) : undefined),
    findByEmail: async (email) => attempt(() => parse(byEmail.get(bytes(email)))),
    async *list() {
      for (let after = ''; ;) {
        const rows = (await attempt(() => page.all(after))) as Row[]
        for (const row of rows) yield JSON.parse(row.user) as User
        const last = rows[PAGE - 1]
        if (!last) return
        after = last.id
        await turn() // lets other requests in
      }
    },
    rename: async (id, name) =>
      isUserId(id) && (await attempt(() => rename.run(bytes(name), id).changes > 0)),
    remove: async (id) => isUserId(id) && (await attempt(() => remove.run(id).changes > 0)),
    isEmpty: async () => attempt(() => any.get() === undefined),
    close: async () => attempt(() => db.close()),
  }
}

interface Row {
  id: string
  user: string
}

const bytes = (text: string): Buffer => Buffer.from(text)

const parse = (row: unknown): User | undefined => row && JSON.parse((row as Row).user)

// Result codes, https://www.sqlite.org/rescode.html; the low byte is the primary one.
const BUSY = 5
const UNIQUE_VIOLATION = 2067

/** Runs a call of the driver, again while another process is writing, and translates what it throws. */
async function attempt<T>(call: () => T, email?: string): Promise<T> {
  for (const deadline = performance.now() + PATIENCE; ; await sleep(PAUSE)) {
    try {
      return call()
    } catch (error) {
      const { errcode = 0 } = error as { errcode?: number }
      if ((errcode & 0xff) === BUSY && performance.now() < deadline) continue
      const taken = errcode === UNIQUE_VIOLATION && email !== undefined
      throw taken ? new EmailTaken(email, { cause: error }) : new StoreFailure(error)
    }
  }
}
