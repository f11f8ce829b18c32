// Users in a SQLite file; every write is durable. In src, only this folder uses the SQLite library, which has
// the interface of node:sqlite (https://nodejs.org/api/sqlite.html).
import type { DatabaseSyncInstance as Database } from '@photostructure/sqlite'
import fs from 'node:fs'
import { dirname } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { batched, StoreFailure, type Client } from '../../chassis/index.ts'
import { PAGE_BYTES } from '../pages.ts'
import { continueAfter, createdAt, LAST_ID, newUserId } from '../user-id.ts'
import {
  EmailTaken,
  IdTaken,
  type Changes,
  type Condition,
  type ListQuery,
  type Page,
  type StoreOptions,
  type User,
  type UserStore,
  type WriteResult,
} from '../user-store.ts'
import { openDatabase, retryWhileBusy, watchFiles } from './database.ts'
import { COLUMNS, transactor } from './schema.ts'

/** The most users in a page of a list without a limit. */
const PAGE_SIZE = 500

// Emails come in no order, so writes touch every page of their index. Keep these pages in memory (64 MB), and
// copy them from the log to the database rarely (40 MB). This makes an import of 400,000 users a third faster.
const IMPORT_PRAGMAS = 'PRAGMA cache_size = -64000; PRAGMA wal_autocheckpoint = 10000'

const FIELDS = Object.keys(COLUMNS) as (keyof User)[]
const CHANGES = Object.keys({ name: 1 } satisfies Record<keyof Changes, 1>) as (keyof Changes)[]

// The library cuts a text at its first NUL, when it writes and when it reads. So such texts are written as
// bytes, and users are read as JSON, where NUL is escaped.
const TEXT = 'CAST(? AS TEXT)'
const bindable = (text: string) => (text.includes('\0') ? Buffer.from(text) : text)
const USER = `json_object(${FIELDS.map((field) => `'${field}', ifnull(${field}, '')`).join(', ')})`
// octet_length() of a plain column does not read the text.
const LENGTH = FIELDS.map((field) => `ifnull(octet_length(${field}), 0)`).join(' + ')

/** Opens the SQLite database `file`; makes it and its folder if they do not exist. @throws StoreFailure */
export async function openSqliteStore(
  file: string,
  { warn = () => {}, isProgram = false }: StoreOptions = {},
): Promise<UserStore> {
  const db = await openDatabase(file)
  if (isProgram) db.exec(IMPORT_PRAGMAS)
  const folder = dirname(file)
  if (fs.statSync(folder).mode & 0o002)
    warn(`every account can write to ${folder} (DATA_DIR): use chmod o-w, or another folder`)
  const { isGone, moveLogAside } = watchFiles(db, file, warn)
  const transaction = transactor(db)
  /** A write that fails undoes itself alone, unless SQLite has undone the transaction. */
  const attempt = (work: () => unknown): unknown => {
    try {
      return work()
    } catch (error) {
      if (!db.isTransaction) throw error
      return new StoreFailure(error)
    }
  }
  /** Does a write. Those of about the same time are one transaction, with one wait for the disk. */
  const write = batched(
    (writes: (() => unknown)[]) =>
      retryWhileBusy(() => {
        if (isGone()) {
          moveLogAside()
          throw new Error('its file was deleted or replaced') // otherwise the writes would be lost with it
        }
        return transaction(() => writes.map(attempt))
      }),
    { maxBatchSize: Infinity, concurrency: 1 },
  ) as <T>(work: () => T, client?: Client) => Promise<T>
  const insert = inserter(db)
  const hasEmail = db.prepare(`SELECT 1 FROM users WHERE email = ${TEXT}`)
  const find = finder(db, 'id')
  const findByEmail = finder(db, 'email')
  const set = CHANGES.map((field) => `${field} = ${TEXT}`).join()
  const rename = runner(db, `UPDATE users SET ${set} WHERE id = ${TEXT}`)
  const remove = runner(db, `DELETE FROM users WHERE id = ${TEXT}`)
  /** Checks and changes in one transaction. */
  const changeIf = (id: string, change: () => boolean, condition?: Condition, client?: Client) =>
    write((): WriteResult => {
      const user = condition && find(id)
      if (user && !condition(user)) return 'refused'
      return change() ? 'done' : 'not found'
    }, client)
  const first = db.prepare('SELECT id FROM users ORDER BY id LIMIT 1')
  const newest = db.prepare('SELECT id FROM users WHERE id < ? ORDER BY id DESC LIMIT 1')
  const id = await retryWhileBusy(() => idIn(newest.get(LAST_ID)), `open SQLite in ${file}`)
  if (id) continueAfter(id)
  return {
    description: `SQLite in ${file}`,
    system: 'sqlite',
    async create({ id = newUserId(), ...fields }, client) {
      const user = { id, ...fields }
      const outcome = await write(() => {
        if (insert(user)) return 'done'
        return hasEmail.get(bindable(user.email)) ? 'email taken' : 'id taken'
      }, client)
      if (outcome === 'email taken') throw new EmailTaken(user.email)
      if (outcome === 'id taken') throw new IdTaken()
      return user
    },
    find: (id) => retryWhileBusy(() => find(id)),
    findByEmail: (email) => retryWhileBusy(() => findByEmail(email)),
    list: lister(db),
    rename(id, changes, ...rest) {
      const values = CHANGES.map((field) => changes[field])
      return changeIf(id, () => rename(...values, id), ...rest)
    },
    remove: (id, ...rest) => changeIf(id, () => remove(id), ...rest),
    isGone,
    onGone: moveLogAside,
    oldest: async () => createdAt(await retryWhileBusy(() => idIn(first.get()))),
    async close() {
      // The library's close() leaves the data in the write-ahead log, which is also durable. If the checkpoint fails,
      // the next process that opens the database reads the log.
      const emptyLog = () =>
        isGone() ? moveLogAside() : db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      await retryWhileBusy(emptyLog).catch(() => {})
      await retryWhileBusy(() => db.close())
    },
  }
}

const idIn = (row: unknown) => (row as { id: string } | undefined)?.id

/** Returns a function that runs `sql` with texts, and returns whether it changed a user. */
function runner(db: Database, sql: string) {
  const statement = db.prepare(sql)
  return (...texts: string[]): boolean => statement.run(...texts.map(bindable)).changes > 0
}

/** Returns a function that inserts a user, unless the id or the email is taken. */
function inserter(db: Database): (user: User) => boolean {
  const values = FIELDS.map((field) => (field === 'email' ? `nullif(${TEXT}, '')` : TEXT))
  const sql = `INSERT INTO users (${FIELDS.join()}) VALUES (${values.join()}) ON CONFLICT DO NOTHING`
  const insert = runner(db, sql)
  return (user) => insert(...FIELDS.map((field) => user[field]))
}

/** Returns a function that finds the user whose `field` has a value. */
function finder(db: Database, field: 'id' | 'email') {
  const query = db.prepare(`SELECT ${USER} AS user FROM users WHERE ${field} = ${TEXT}`)
  return (value: string): User | undefined => {
    const row = query.get(bindable(value))
    return row && JSON.parse((row as { user: string }).user)
  }
}

/**
 * Implements `UserStore.list`. One statement checks the size of a page, and reads it: between two, another process can change
 * users.
 */
function lister(db: Database): UserStore['list'] {
  const range = 'FROM users WHERE id > ?1 ORDER BY id LIMIT ?2'
  const sizes = `SELECT ${LENGTH} AS size ${range}`
  const fit = `?2 = 1 OR (SELECT total(size) FROM (${sizes})) <= ${PAGE_BYTES}`
  const columns = FIELDS.map((field) => `json_group_array(ifnull(${field}, ''))`)
  const users = `SELECT json_array(${columns.join()}) FROM (SELECT * ${range} + 1)` // one more shows whether a user follows
  const read = db.prepare(`SELECT (${users}) AS columns WHERE ${fit}`)
  const readSizes = db.prepare(`SELECT json_group_array(size) AS sizes FROM (${sizes})`)
  let didFit = true // whether all users of the last page did: a list takes a tenth longer if each page counts first
  const countFitting = (after: string, limit: number, ...filter: string[]): number => {
    const row = readSizes.get(after, limit, ...filter.map(bindable)) as { sizes: string }
    const sizes: number[] = JSON.parse(row.sizes)
    let bytes = 0
    const firstOver = sizes.findIndex((size) => (bytes += size) > PAGE_BYTES)
    didFit = firstOver === -1
    return didFit ? limit : Math.max(1, firstOver)
  }
  const readPage = (after: string, limit: number, ...filter: string[]): Page => {
    const count = didFit ? limit : countFitting(after, limit, ...filter)
    const row = read.get(after, count, ...filter.map(bindable)) as { columns: string } | undefined
    didFit &&= row !== undefined
    if (!row) return readPage(after, limit, ...filter)
    const users = usersOf(JSON.parse(row.columns))
    const [follower] = users.splice(count)
    return { users, next: follower && users.at(-1)!.id }
  }
  const readNext = async ({ after = '', limit = PAGE_SIZE, ...rest }: ListQuery) => {
    rest satisfies Record<string, never>
    await nextTurn() // other requests are served between pages, however many lists there are
    return retryWhileBusy(() => readPage(after, limit))
  }
  return batched(async ([query]: ListQuery[]) => [await readNext(query!)], {
    maxBatchSize: 1,
    concurrency: 1,
  })
}

/** Users, from one array for each field: SQLite and JSON.parse take a fifth longer for one array of users. */
const usersOf = (columns: unknown[][]): User[] =>
  columns[0]!.map((_, row) => {
    const user: Partial<Record<keyof User, unknown>> = {}
    for (const [i, field] of FIELDS.entries()) user[field] = columns[i]![row]
    return user as User
  })
