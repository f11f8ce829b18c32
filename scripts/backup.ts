#!/usr/bin/env node
// Copies the SQLite database to a new file, also while the service runs.
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { readConfig } from '../src/config.ts'
import { databaseIn } from '../src/store/open.ts'
import { backUpSqlite } from '../src/store/sqlite/store.ts'
import { fileAt, print, program, UsageError } from './program.ts'

const USAGE = `usage: backup FILE

Copies the SQLite database, users.db in DATA_DIR (./data by default), to FILE, which must not exist. The
service may run meanwhile. Keep a copy of the file signing-secret in DATA_DIR too: without it, all tokens
become invalid. If MONGODB_URI is set, the users are in MongoDB: use mongodump or export-users.

To restore, stop the service, replace users.db with FILE, delete users.db-wal and users.db-shm, and start
the service. In a container, see k8s/README.md.
Exit codes: 0 the database was copied; 1 it was not; 2 wrong options.`

await program(USAGE, {}, async (_, [path, ...more]) => {
  if (!path || more.length > 0) throw new UsageError('give one FILE')
  const target = fileAt(path)
  const { dataDir, mongodbUri } = readConfig(process.env, false)
  if (mongodbUri) throw new Error('the users are in MongoDB: use mongodump or export-users')
  const database = databaseIn(dataDir)
  if (!existsSync(database)) throw new Error(`there are no users in ${dataDir}: check DATA_DIR`)
  closeSync(openSync(target, 'wx', 0o600)) // only its owner may read it; fails if `target` is a link
  try {
    backUpSqlite(database, target)
  } catch (error) {
    rmSync(target)
    throw error
  }
  await print(`${database} was copied to ${target}`)
  return 0
})
