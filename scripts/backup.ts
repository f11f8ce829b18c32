#!/usr/bin/env node
// Copies the embedded store's database to a file, while the service runs. (Of MongoDB, export-users.)
import { readConfig } from '../src/config.ts'
import { databaseIn } from '../src/store/open.ts'
import { backUpSqlite } from '../src/store/sqlite/store.ts'
import { program, UsageError } from './program.ts'

await program('usage: node dist/scripts/backup.js FILE', {}, async (_, [target, ...more]) => {
  if (!target || more.length > 0) throw new UsageError('one FILE is needed')
  const { dataDir, mongodbUri } = readConfig(process.env, false)
  if (mongodbUri) throw new Error('the users are in MongoDB: use mongodump, or export-users')
  const file = databaseIn(dataDir)
  backUpSqlite(file, target)
  console.log(`${file} was copied to ${target}`)
  return 0
})
