// The table of users in SQLite, and how a database of an earlier version gets its columns.
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import type { User } from '../user-store.ts'

/** A column for each field of a user. An empty email is NULL, because a unique column allows many NULLs. */
export const COLUMNS = {
  id: 'TEXT NOT NULL PRIMARY KEY',
  name: 'TEXT NOT NULL',
  email: 'TEXT UNIQUE',
} satisfies Record<keyof User, string>

/**
 * The SQL that upgrades a database from version 1 to 2, from 2 to 3, and so on. Add to the end; never change what was
 * released. In existing users a new column is NULL, which is read as the empty text.
 */
export const MIGRATIONS: string[] = []

const columns = Object.entries(COLUMNS).map(([name, type]) => `${name} ${type}`)
const TABLE = `CREATE TABLE users (${columns.join(', ')}) STRICT`

/**
 * Makes the table in a new database, and upgrades the table of an older one.
 *
 * @throws Error a newer version of the service created the database, or its table lacks a column
 */
export function migrate(db: DatabaseSyncInstance, migrations = MIGRATIONS): void {
  const newest = 1 + migrations.length
  if (versionOf(db) === newest) return checkColumns(db)
  transactor(db)(() => {
    const version = versionOf(db) // read again: another process may have upgraded it meanwhile
    if (version > newest) {
      const known = `this service knows versions up to ${newest}`
      throw new Error(`its schema has version ${version}, and ${known}: use a newer service`)
    }
    db.exec(version === 0 ? TABLE : migrations.slice(version - 1).join(';'))
    db.exec(`PRAGMA user_version = ${newest}`)
    checkColumns(db)
  })
}

const versionOf = (db: DatabaseSyncInstance): number =>
  (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version

const checkColumns = (db: DatabaseSyncInstance) =>
  void db.prepare(`SELECT ${Object.keys(COLUMNS).join()} FROM users`)

/** Returns a function that does `work` in one transaction: one wait for the disk. */
export function transactor(db: DatabaseSyncInstance) {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  return <T>(work: () => T): T => {
    begin.run()
    try {
      const result = work()
      commit.run()
      return result
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }
}
