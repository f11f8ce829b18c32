#!/usr/bin/env node
// Copies the SQLite database to a file or to standard output, also while the service runs.
import fs, { createReadStream, existsSync, lstatSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { loadConfig } from '../../src/config.ts'
import { databaseIn } from '../../src/store/open.ts'
import { freezeSqlite } from '../../src/store/sqlite/database.ts'
import { fileAt, program, stopSignal, UsageError, warn } from './program.ts'
import { openOutput } from './transfer/file.ts'

const USAGE = `usage: backup FILE

Copies the SQLite database, users.db in DATA_DIR (./data by default), to FILE, which must not exist; add .gz
to compress it. Use '-' for standard output, and then npm run --silent. The service may run; until the end,
what it writes takes more space in DATA_DIR. Keep a copy of the file signing-secret there too: without it, all
tokens become invalid. If MONGODB_URI is set, the users are in MongoDB: use mongodump or export-users.

To restore a copy, follow README.md; in a container, k8s/README.md.
Exit codes: 0 the database was copied; 1 it was not; 2 wrong options.`

const TOO_SLOW =
  'too slow: nothing was read for a minute, or the log of new writes became too large'
const READ_ONLY = 'copy users.db and users.db-wal together, as k8s/runbook.md says'
/** In bytes. The larger the log of SQLite, the more time each write of the service takes meanwhile. */
const MAX_LOG_SIZE = 200e6
const inMb = (bytes: number) => `${Math.ceil(bytes / 1e6).toLocaleString('en')} MB`

await program(USAGE, {}, async (_, [path, ...more]) => {
  if (!path || more.length > 0) throw new UsageError('give one FILE')
  const target = fileAt(path)
  const { DATA_DIR, MONGODB_URI } = loadConfig(false, warn)
  if (MONGODB_URI) throw new Error('the users are in MongoDB: use mongodump or export-users')
  const database = databaseIn(DATA_DIR)
  if (!existsSync(database)) throw new Error(`there are no users in ${DATA_DIR}: check DATA_DIR`)
  if (target !== '-' && lstatSync(target, { throwIfNoEntry: false }))
    throw new Error(`${target} exists: give another file`)
  const { users, logSize, release } = await freezeSqlite(database).catch(explainReadOnly)
  const slow = new AbortController()
  try {
    const { size } = statSync(database)
    const free = freeSpace(dirname(target))
    if (size > free && !/^-$|\.gz$/i.test(target))
      throw new Error(
        `${target} needs ${inMb(size)}, and ${inMb(free)} are free: use another folder, or -`,
      )
    // Closing a file of the database would end SQLite's locks in this process.
    const source = createReadStream(database, { fs: { ...fs, close: (_, done) => done?.(null) } })
    // `kubectl exec` does not end its program when it is interrupted.
    const idle = setTimeout(() => target === '-' && slow.abort(), 60_000)
    source.on('data', () => idle.refresh())
    const mayGrowTo = () => Math.min(freeSpace(DATA_DIR), MAX_LOG_SIZE)
    setInterval(() => logSize() > mayGrowTo() && slow.abort(), 1000)
    await openOutput(target)(source, AbortSignal.any([stopSignal(), slow.signal]))
    const amount = `${inMb(size)} with ${users.toLocaleString('en')} users`
    warn(`copied ${amount}; users are kept in SQLite in ${database}`)
    return 0
  } catch (error) {
    throw slow.signal.aborted ? new Error(TOO_SLOW) : error
  } finally {
    await release()
  }
})

/** To keep the database as it is, SQLite must write. */
function explainReadOnly(error: Error): never {
  throw error.message.includes('readonly database')
    ? new Error(`${error.message}: ${READ_ONLY}`)
    : error
}

function freeSpace(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
