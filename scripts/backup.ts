// Copies the embedded store's database to a file, while the service runs. (MongoDB has its own tools.)
import { readConfig } from '../src/config.ts'
import { databaseIn } from '../src/store/open.ts'
import { backUpSqlite } from '../src/store/sqlite.ts'

const [target, ...more] = process.argv.slice(2)
if (!target || more.length > 0) {
  console.error('usage: node dist/scripts/backup.js FILE')
  process.exit(2)
}
try {
  const { dataDir, mongodbUri } = readConfig(process.env)
  if (mongodbUri) throw new Error('the users are in MongoDB: use mongodump')
  const file = databaseIn(dataDir)
  backUpSqlite(file, target)
  console.log(`${file} was copied to ${target}`)
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}
