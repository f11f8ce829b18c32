#!/usr/bin/env node
// Replaces the SQLite database by a backup, in one step, and keeps the former one.
import fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { makeFolder } from '../../src/chassis/index.ts'
import { loadConfig } from '../../src/chassis/programs.ts'
import { programVariables } from '../../src/config.ts'
import { databaseIn } from '../../src/store/open.ts'
import { fileAt, messageOf, program, stopSignal, UsageError, warn } from './program.ts'
import { openInput, withTemporary } from './file.ts'
import { checkBackup, lockFormer, replace, sync } from './sqlite.ts'

const USAGE = `usage: restore FILE

Replaces the SQLite database, users.db in DATA_DIR (./data by default), by
FILE, which 'backup' made; '-' is standard input. Stop the service first.
The former database is kept beside the new one, as users.db.former-…: delete it
when you do not need it. The file signing-secret stays as it is.
A users.db that was copied without 'backup' can lack the newest users: put it
into a folder of its own, with users.db-wal, and back that up, with DATA_DIR.
If MONGODB_URI is set, use export-users and import-users.

Exit codes: 0 the database was replaced; 1 other failure; 2 nothing was changed.`

await program(USAGE, {}, async (_, [path, ...more]) => {
  if (!path || more[0]) throw new UsageError('give one FILE')
  const source = fileAt(path)
  const { DATA_DIR, MONGODB_URI } = loadConfig(programVariables)
  const database = databaseIn(DATA_DIR)
  let restored: string
  try {
    if (MONGODB_URI) throw new Error('the users are in MongoDB: use export-users and import-users')
    restored = await restore(source, database)
  } catch (error) {
    warn(messageOf(error))
    return 2
  }
  sync(dirname(database))
  warn(restored)
  return 0
})

async function restore(source: string, database: string): Promise<string> {
  const input = openInput(source)
  const name = source === '-' ? 'standard input' : source
  if (isSame(source, database)) throw new Error(`${name} is the database itself: give a backup`)
  const former = lockFormer(database)
  let folder = dirname(database)
  while (!fs.existsSync(folder)) folder = dirname(folder) // a refused restore makes none
  return withTemporary(join(folder, basename(database)), async (copy) => {
    await pipeline(input, fs.createWriteStream(copy), { signal: stopSignal() })
    const users = check(copy, name).toLocaleString('en')
    makeFolder(dirname(database))
    const kept = replace(database, copy, former)
    const before = former
      ? `the former one (${former.description}) is now ${kept}`
      : 'there was none'
    return `restored ${users} users to SQLite in ${database}; ${before}`
  })
}

function isSame(source: string, database: string): boolean {
  const given = source === '-' ? fs.fstatSync(0) : fs.statSync(source)
  const former = fs.statSync(database, { throwIfNoEntry: false })
  return given.ino === former?.ino && given.dev === former.dev
}

function check(copy: string, name: string): number {
  try {
    return checkBackup(copy)
  } catch (error) {
    const { message } = error as Error
    throw new Error(`${name} is not a whole backup: ${message}`, { cause: error })
  }
}
