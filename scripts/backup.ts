#!/usr/bin/env node
// Copies the SQLite database to a new file, also while the service runs.
import { closeSync, openSync, rmSync } from 'node:fs'
import { readConfig } from '../src/config.ts'
import { databaseIn } from '../src/store/open.ts'
import { backUpSqlite } from '../src/store/sqlite/store.ts'
import { print, program, UsageError } from './program.ts'

await program('usage: backup FILE', {}, async (_, [target, ...more]) => {
  if (!target || more.length > 0) throw new UsageError('give one FILE')
  const { dataDir, mongodbUri } = readConfig(process.env, false)
  if (mongodbUri) throw new Error('the users are in MongoDB: use mongodump or export-users')
  const database = databaseIn(dataDir)
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
