// The database file of the SQLite store: copies it, checks a copy, and replaces it by a copy.
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import fs from 'node:fs'
import { dirname } from 'node:path'
import { renameNoReplace, tryLink } from '../../src/chassis/programs.ts'
import { retryWhileBusy } from '../../src/store/sqlite/database.ts'
import { COLUMNS, migrate } from '../../src/store/sqlite/schema.ts'
import { checkFolder, ofAnother } from './file.ts'

/**
 * Copies the database `file`, as it is at one moment, while services go on: without what is left of deleted users, so a
 * copy is usually smaller.
 *
 * @param copy the absolute path of an empty file
 * @returns how many users it has
 * @throws StoreFailure
 */
export async function copySqlite(file: string, copy: string): Promise<number> {
  const db = new DatabaseSync(file)
  await retryWhileBusy(() => db.prepare('VACUUM INTO ?').run(copy), `back up SQLite in ${file}`)
  db.close()
  const copied = new DatabaseSync(copy)
  checkTable(copied)
  return countUsers(copied)
}

function countUsers(db: DatabaseSyncInstance): number {
  const row = db.prepare('SELECT count(*) AS users FROM users').get()
  return (row as { users: number }).users
}

/**
 * Checks a file that should be a backup, and adds the columns that it lacks.
 *
 * @returns how many users it has
 * @throws Error it is not a whole database of users, or a newer service made it
 */
export function checkBackup(file: string): number {
  if (isInWalMode(file)) throw new Error('it is in WAL mode, so it can lack users: see --help')
  const db = new DatabaseSync(file)
  const [fault] = db.prepare('PRAGMA integrity_check(1)').all()
  const { integrity_check: found } = fault as { integrity_check: string }
  if (found !== 'ok') throw new Error(found.split('\n').at(-1))
  checkTable(db)
  migrate(db)
  if (!isAsMade(db)) throw new Error('its table of users is not as a service makes it')
  return countUsers(db)
}

/** @throws Error another program made the database */
function checkTable(db: DatabaseSyncInstance): void {
  if (!db.prepare(TABLE).get()) throw new Error('it has no table of users of this service')
}

const TABLE = "SELECT 1 FROM pragma_table_list('users') WHERE type = 'table' AND strict"

/** Whether the columns are as `migrate` makes them, such as a unique email, without a trigger or another unique index. */
function isAsMade(db: DatabaseSyncInstance): boolean {
  const [table, ...rules] = db.prepare(MADE).all() as { sql: string }[]
  const columns = table!.sql.replaceAll(/^CREATE TABLE users \(|\) STRICT$/g, '').split(/, ?/)
  const isMade = ([name, type]: [string, string]) => columns.includes(`${name} ${type}`)
  return rules.length === 0 && Object.entries(COLUMNS).every(isMade)
}

/** The table, its triggers and its unique indexes; not the index of its own UNIQUE, which has no SQL. */
const MADE =
  "SELECT sql FROM sqlite_schema WHERE tbl_name LIKE 'users' AND sql NOT LIKE 'CREATE INDEX%'"

/** Whether it is a copy of the file of a service: what it has not yet taken from its log is elsewhere. */
function isInWalMode(file: string): boolean {
  const header = Buffer.alloc(20) // https://www.sqlite.org/fileformat.html#the_database_header
  const fd = fs.openSync(file, 'r')
  fs.readSync(fd, header)
  fs.closeSync(fd)
  return header[19] === 2
}

/** A database that is to be replaced. `db` has locked it, unless it is damaged. */
interface Former {
  description: string
  /** In bytes. */
  size: number
  db?: DatabaseSyncInstance
}

/**
 * Locks the database `file` until this process ends, and changes nothing: `close()` would empty the log.
 *
 * @returns undefined if there is none
 * @throws Error another process has it open, or it is not a file of this account, or would not be
 */
export function lockFormer(file: string): Former | undefined {
  const found = fs.lstatSync(file, { throwIfNoEntry: false })
  if (!found) return checkFolder(dirname(file))
  const { size } = found
  if (!found.isFile()) throw new Error(`${file} is not a regular file`)
  if (found.uid !== process.geteuid!()) throw new Error(`${file} ${ofAnother(found)}`)
  if (size === 0) return { description: 'an empty file', size } // SQLite would delete its log
  const db = new DatabaseSync(file)
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT')
  } catch (error) {
    const { message } = error as Error
    if (isDamage(error)) return { description: `unreadable: ${message}`, size }
    const isOpen = codeOf(error) === BUSY
    const text = isOpen ? 'another process has it open: stop the service first' : message
    throw new Error(`cannot replace ${file}: ${text}`, { cause: error })
  }
  if (fs.lstatSync(file).ino !== found.ino) throw new Error(`${file} was replaced meanwhile`)
  return { description: describe(db), size, db }
}

function describe(db: DatabaseSyncInstance): string {
  try {
    return `${countUsers(db).toLocaleString('en')} users`
  } catch (error) {
    return `unreadable: ${(error as Error).message}`
  }
}

/**
 * Gives `copy` the name of the database `file`, in one step: whenever this is killed, one of them is there, whole. On a
 * file system without hard links, that takes two steps: a kill between them leaves the former one at its other name alone.
 *
 * @returns the other name of the former database
 * @throws Error nothing was replaced
 */
export function replace(file: string, copy: string, former: Former | undefined): string {
  checkSize(file, former)
  const kept = `${file}.former-${Date.now()}`
  const moved: string[] = []
  let isEmptied = false
  sync(copy)
  // An empty file is moved, because a service may begin to use it even now.
  const isLinked = Boolean(former?.size) && tryLink(file, kept)
  const names = [...(former && !isLinked ? [''] : []), '-wal', '-shm', '-journal']
  try {
    isEmptied = former?.db !== undefined && emptyLog(former.db)
    // At their names, SQLite would write the logs into the copy.
    for (const end of names.filter((end) => fs.existsSync(file + end))) {
      if (isEmptied && end) fs.rmSync(file + end)
      else moved.push(move(file, kept, end))
    }
    if (!former?.db) checkSize(kept, former)
    sync(dirname(file))
    if (isLinked) fs.renameSync(copy, file)
    else renameNoReplace(copy, file)
  } catch (error) {
    // A service may have made files meanwhile.
    for (const end of moved.filter((end) => !fs.existsSync(file + end))) move(kept, file, end)
    if (isLinked) fs.rmSync(kept)
    if (isEmptied && fs.existsSync(`${file}-journal`)) former!.db!.exec('PRAGMA journal_mode = WAL')
    throw error
  }
  return kept
}

function move(from: string, to: string, end: string): string {
  fs.renameSync(from + end, to + end)
  return end
}

/** Without a lock, a service may have begun to use the former database. */
function checkSize(file: string, former: Former | undefined): void {
  if (fs.statSync(file, { throwIfNoEntry: false })?.size !== former?.size)
    throw new Error(`another process has changed ${file} meanwhile: stop the service first`)
}

/** Writes the log of a database into it. @returns false if the database is damaged */
function emptyLog(db: DatabaseSyncInstance): boolean {
  try {
    db.exec('PRAGMA journal_mode = DELETE')
    return true
  } catch (error) {
    if (isDamage(error)) return false
    throw error
  }
}

/** Waits until a file or a folder is on the disk. Some file systems cannot do this for folders; SQLite ignores that, too. */
export function sync(path: string): void {
  const fd = fs.openSync(path, 'r')
  try {
    fs.fsyncSync(fd)
  } catch (error) {
    if (!fs.fstatSync(fd).isDirectory()) throw error
  } finally {
    fs.closeSync(fd)
  }
}

/** The primary code: https://www.sqlite.org/rescode.html */
const codeOf = (error: unknown): number => ((error as { errcode?: number }).errcode ?? 0) % 256
const BUSY = 5
const [IOERR, CORRUPT, NOTADB] = [10, 11, 26]

const isDamage = (error: unknown): boolean => [IOERR, CORRUPT, NOTADB].includes(codeOf(error))
