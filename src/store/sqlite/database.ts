// Opens and copies the database file. Knows nothing of users but their table.
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import fs from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkOwner } from '../../files.ts'
import { StoreFailure } from '../failure.ts'
import { migrate } from './schema.ts'

/** How long a call waits for a write of another process, and how often it is tried, in milliseconds. */
const TIMEOUT_MS = 2_000
const RETRY_MS = 5

/**
 * Opens the SQLite database `file`; makes it and its folder if they do not exist.
 *
 * @throws StoreFailure the file cannot be opened, or is not a database of users
 */
export async function openDatabase(file: string): Promise<DatabaseSyncInstance> {
  const folder = dirname(file)
  await retryWhileBusy(() => {
    makeFolder(folder)
    for (const suffix of SUFFIXES) checkFile(file + suffix)
    // Only its owner can ever read it.
    const { O_RDWR, O_CREAT, O_NOFOLLOW } = fs.constants
    fs.closeSync(fs.openSync(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600))
  }, `keep users in the folder ${folder} (DATA_DIR)`)
  return retryWhileBusy(() => open(file), `open SQLite in ${file}`, folder)
}

/** A function that says whether the files of an open database were deleted or replaced since now. */
export function watchFiles(file: string): () => boolean {
  const inodes = () => ['', '-wal', '-shm'].map((suffix) => inodeOf(file + suffix)).join()
  const opened = inodes()
  return () => inodes() !== opened
}

const inodeOf = (file: string) => fs.statSync(file, { throwIfNoEntry: false })?.ino

/** In pages of 4 KiB: 20 MB, or 130,000 users. SQLite rewrites them in 0.2 s. */
const MAX_PAGES_TO_REWRITE = 5_000

/**
 * Empties the log and closes the database, unless its files are gone: what is there now may have been restored. First
 * rewrites a small one, after which nothing of deleted users is left: `secure_delete` misses copies that SQLite has made
 * when it moved a row to another page (of one or two users in a thousand), and version 2.0.0 did not use it.
 *
 * @throws StoreFailure
 */
export async function closeDatabase(db: DatabaseSyncInstance, isGone: () => boolean) {
  // If it fails, the next process that opens the database reads the log.
  const unlessGone = (work: () => void) => retryWhileBusy(() => isGone() || work()).catch(() => {})
  await unlessGone(() => {
    const { page_count } = db.prepare('PRAGMA page_count').get() as { page_count: number }
    if (page_count <= MAX_PAGES_TO_REWRITE) db.exec('PRAGMA temp_store = MEMORY; VACUUM')
  })
  // The library's close() leaves the data in the write-ahead log, which is also durable.
  await unlessGone(() => db.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
  await retryWhileBusy(() => db.close())
}

/**
 * Keeps the database `file` as it is, with all that was committed, so that it can be copied like any other file.
 * Services go on: what they write stays in the write-ahead log, which grows.
 *
 * A transaction that began to read while the log was empty reads only the file. Until it ends, no checkpoint can
 * change the file: WAL_READ_LOCK(0) in https://www.sqlite.org/walformat.html.
 *
 * @returns how many users it has; the size of the log, in bytes; and a function that ends this and gives the space of
 * the log back
 * @throws StoreFailure services write all the time, or another process copies the file
 */
export async function freezeSqlite(file: string) {
  for (const suffix of SUFFIXES) checkFile(file + suffix)
  const db = new DatabaseSync(file)
  const logSize = () => fs.statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const emptyLog = (then: string) =>
    retryWhileBusy(() => {
      db.exec(`PRAGMA wal_checkpoint; PRAGMA wal_checkpoint(TRUNCATE); ${then}`)
      if (logSize() === 0) return
      if (db.isTransaction) db.exec('ROLLBACK')
      throw Object.assign(new Error('its log is in use'), { errcode: BUSY })
    }, `back up SQLite in ${file}`)
  await emptyLog('BEGIN; SELECT 1 FROM sqlite_schema')
  const { users } = db.prepare('SELECT count(*) AS users FROM users').get() as { users: number }
  async function release() {
    db.exec('ROLLBACK')
    await emptyLog('').catch(() => {}) // then services empty it
  }
  return { users, logSize, release }
}

/**
 * Makes a call of the library; tries again while another process writes.
 *
 * @param folder that of the database, if the call may write to it
 * @throws StoreFailure
 */
export async function retryWhileBusy<T>(call: () => T, task?: string, folder?: string): Promise<T> {
  for (const deadline = performance.now() + TIMEOUT_MS; ; await sleep(RETRY_MS)) {
    try {
      return call()
    } catch (error) {
      if (codeOf(error) !== BUSY || performance.now() >= deadline)
        throw new StoreFailure(folder ? causeOf(error, folder) : error, task)
    }
  }
}

/** SQLite says `disk I/O error` or `readonly database` for many causes: asks the system. */
function causeOf(error: unknown, folder: string): unknown {
  if (![READONLY, IOERR].includes(codeOf(error))) return error
  try {
    fs.utimesSync(folder, new Date(), new Date()) // `access` permits to write after the kernel has forbidden it
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EROFS') return cause
  }
  // The file `-shm` has 32 KiB.
  const { bavail, bsize } = fs.statfsSync(folder)
  const isFull = bavail * bsize < 32_768
  return isFull ? new Error('the disk is full: disk I/O error', { cause: error }) : error
}

const [BUSY, READONLY, IOERR] = [5, 8, 10] // https://www.sqlite.org/rescode.html; the low byte is the primary code
const codeOf = (error: unknown): number => ((error as { errcode?: number }).errcode ?? 0) % 256

/**
 * The files that SQLite opens: the database, and what it finds beside it. A planted journal would rewrite the
 * database, and delete the files that it names (https://www.sqlite.org/fileformat2.html#the_rollback_journal).
 */
const SUFFIXES = ['', '-journal', '-wal', '-shm']

/** @throws Error another user can have planted the file, or can change it */
function checkFile(file: string): void {
  const stats = fs.lstatSync(file, { throwIfNoEntry: false })
  if (!stats) return
  if (!stats.isFile()) throw new Error(`${file}: it is not a regular file`)
  try {
    checkOwner(stats, 0o002)
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** Does not use the option `recursive` of `mkdirSync`: on /proc/x, Node 20 and 24 would try forever. */
function makeFolder(folder: string): void {
  if (fs.existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    fs.mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (!fs.existsSync(folder)) throw error // otherwise another process has just made it
  }
}

/** Overwrites deleted text in the database. The log is cut to 4 MB, after which SQLite begins it again anyway. */
const ERASE = 'PRAGMA secure_delete = ON; PRAGMA journal_size_limit = 4000000'

function open(file: string): DatabaseSyncInstance {
  const db = new DatabaseSync(file)
  try {
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${ERASE}`)
    migrate(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
