#!/usr/bin/env node
// Copies the SQLite database to a file or to standard output, also while the service runs.
import fs, { createReadStream } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { loadConfig } from '../../src/chassis/programs.ts'
import { programVariables } from '../../src/config.ts'
import { databaseIn } from '../../src/store/open.ts'
import { outputAt, program, stopSignal, UsageError, warn } from './program.ts'
import { makeFile, withTemporary } from './file.ts'
import { copySqlite } from './sqlite.ts'

const USAGE = `usage: backup FILE

Copies the SQLite database, users.db in DATA_DIR (./data by default), to a new
FILE, also while the service runs. Use '-' for standard output, and then npm run
--silent; meanwhile, the copy takes space in DATA_DIR. The size is printed: a
connection can break off without an error. Keep a copy of signing-secret there
too: without it, all tokens become invalid.
If MONGODB_URI is set, use mongodump or export-users.

Exit codes: 0 the database was copied; 1 it was not; 2 wrong usage; 130 Ctrl-C.`

await program(USAGE, {}, async (_, [path, ...more]) => {
  if (!path || path.endsWith('.gz') || more[0]) throw new UsageError('give one FILE, not .gz')
  const target = path === '-' ? outputAt(path) : resolve(outputAt(path))
  const { DATA_DIR, MONGODB_URI } = loadConfig(programVariables)
  if (MONGODB_URI) throw new Error('the users are in MongoDB: use mongodump or export-users')
  const database = databaseIn(DATA_DIR)
  if (!fs.statSync(database, { throwIfNoEntry: false }))
    throw new Error(`there are no users in ${DATA_DIR}: check DATA_DIR`)
  const signal = stopSignal()
  async function copyTo(copy: string): Promise<string> {
    checkSpace(database, dirname(copy))
    const users = await copySqlite(database, copy)
    const { size } = fs.statSync(copy)
    for (const _ of [1, 2]) await nextTurn() // a signal arrives in the second
    signal.throwIfAborted()
    if (target === '-') await send(copy, signal)
    return `${users.toLocaleString('en')} users, ${size} bytes`
  }
  const copied = await (target === '-' ? withTemporary(database, copyTo) : makeFile(target, copyTo))
  warn(`copied ${copied}; users are kept in SQLite in ${database}`)
  return 0
})

/** Writes the copy to standard output. @throws Error nothing was read for a minute, or `signal` aborts */
async function send(copy: string, signal: AbortSignal): Promise<void> {
  const slow = new AbortController()
  const source = createReadStream('', { fd: fs.openSync(copy, 'r') })
  fs.rmSync(copy) // nothing is left of it when the process is killed
  // `kubectl exec` does not end its program when it is interrupted.
  const idle = setTimeout(() => slow.abort(), 60_000)
  source.on('data', () => idle.refresh())
  try {
    const signals = AbortSignal.any([signal, slow.signal])
    await pipeline(source, process.stdout, { signal: signals })
  } catch (error) {
    throw slow.signal.aborted ? new Error('too slow: nothing was read for a minute') : error
  }
}

/** @throws Error the copy could take the last space of the folder, where services may write */
function checkSpace(database: string, folder: string): void {
  const sizeOf = (file: string) => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
  const size = sizeOf(database) + sizeOf(`${database}-wal`)
  const { bavail, bsize } = fs.statfsSync(folder)
  const free = bavail * bsize
  if (size > free)
    throw new Error(`the copy may need ${size} bytes in ${folder}, and ${free} are free`)
}
