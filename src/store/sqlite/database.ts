// Opens the database file, and watches it. Knows nothing of users but their table.
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import fs from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeFolder, StoreFailure } from '../../chassis/index.ts'
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
  makeFile(file)
  const inode = inodeOf(file)
  const task = `open SQLite in ${file}`
  const db = await retryWhileBusy(() => new DatabaseSync(file), task)
  await retryWhileBusy(() => db.exec(SETTINGS), task)
  await retryWhileBusy(() => migrate(db), task)
  if (inodeOf(file) === inode) return db
  const log = [`${file}-wal`, `${file}-shm`].filter((name) => fs.existsSync(name))
  moveAside(db, log, () => {}) // the next start would write it into what is there now
  db.close()
  throw new StoreFailure(new Error('it was replaced meanwhile: start again'), task)
}

/**
 * A write waits for the disk. Deleted text is overwritten in the database. The write-ahead log (WAL) is truncated to 4 MB,
 * the size at which SQLite starts to reuse it.
 */
const SETTINGS = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;
  PRAGMA journal_size_limit = 4000000`

/**
 * Watches the files of the open database.
 *
 * @param warn called with the new names of the log
 */
export function watchFiles(db: DatabaseSyncInstance, file: string, warn: (text: string) => void) {
  const files = ['', '-wal', '-shm'].map((end) => file + end)
  const opened = files.map(inodeOf)
  let folder: fs.Stats | undefined
  const left = () => files.filter((name, i) => inodeOf(name) === opened[i])
  return {
    /** Whether a file was deleted or replaced since `watchFiles` was called. */
    isGone: (): boolean => {
      // The files are looked at only when the folder's ctime has changed: on Linux 6.18, a stat of the WAL makes its next
      // write 35 µs slower. Deleting or renaming a file changes that ctime, and no tool can set it back.
      const now = fs.statSync(dirname(file), { throwIfNoEntry: false })
      if (now && now.ctimeMs === folder?.ctimeMs && now.ino === folder.ino) return false
      const isGone = left().length < files.length
      if (now && !isGone && Date.now() - now.ctimeMs > TICK_MS) folder = now
      return isGone
    },

    /** If the database itself is gone, moves its log aside: the next start would write it into what is there then. */
    moveLogAside: (): void => {
      const log = left()
      if (!log.includes(file)) moveAside(db, log, warn)
    },
  }
}

/** Two changes of a folder within this time, in milliseconds, can have the same time: on FAT, times are even seconds. */
const TICK_MS = 2_000

const inodeOf = (file: string) => fs.statSync(file, { throwIfNoEntry: false })?.ino

/** Moves `files` of a database that is gone aside. If the database was only renamed, its WAL is written into it. */
function moveAside(db: DatabaseSyncInstance, files: string[], warn: (text: string) => void): void {
  if (files.length === 0) return
  const moved = files.map((name) => `${name}.replaced-${Date.now()}`)
  try {
    files.forEach((name, i) => fs.renameSync(name, moved[i]!))
    warn(`the log of the former database is now ${moved.join(' and ')}`)
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch (error) {
    const { message } = error as Error
    warn(`cannot move the log of the former database aside, or empty it: ${message}`)
  }
}

/**
 * Makes a call of the library; tries again while another process writes. SQLite's own `busy_timeout` would block the event
 * loop meanwhile, because the library is synchronous.
 *
 * @throws StoreFailure
 */
export async function retryWhileBusy<T>(call: () => T, task?: string): Promise<T> {
  for (const deadline = performance.now() + TIMEOUT_MS; ; await sleep(RETRY_MS)) {
    try {
      return call()
    } catch (error) {
      const code = (error as { errcode?: number }).errcode ?? 0
      if (code % 256 !== BUSY || performance.now() >= deadline) throw new StoreFailure(error, task)
    }
  }
}

const BUSY = 5 // https://www.sqlite.org/rescode.html; the low byte is the primary code

/** Makes the file and its folder, if they do not exist. Only their owner can read them. @throws StoreFailure */
function makeFile(file: string): void {
  const folder = dirname(file)
  try {
    makeFolder(folder)
    fs.accessSync(folder, fs.constants.W_OK)
    // Refuses a link: SQLite keeps the log beside its target, and `watchFiles` does not look there.
    const { O_RDWR, O_CREAT, O_NOFOLLOW } = fs.constants
    fs.closeSync(fs.openSync(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const uid = code === 'EACCES' ? `; this process has the uid ${process.geteuid?.()}` : ''
    const cause = new Error(message + uid, { cause: error })
    throw new StoreFailure(cause, `keep users in the folder ${folder} (DATA_DIR)`)
  }
}
