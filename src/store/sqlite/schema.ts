// The table of users in SQLite, and transactions.
import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import type { User } from '../user-store.ts'

/** The column of a field: a number and an enum need a default, which existing users get. */
type Column<Value> = Value extends number
  ? `INTEGER NOT NULL DEFAULT ${number}`
  : string extends Value
    ? `TEXT${string}`
    : `TEXT NOT NULL DEFAULT '${Value & string}'`

/**
 * A column for each field of a user. An empty email is NULL, because a unique column allows many NULLs. Existing users
 * have NULL in a new column without a default, which is read as the empty text.
 */
export const COLUMNS = {
  id: 'TEXT NOT NULL PRIMARY KEY',
  name: 'TEXT NOT NULL',
  email: 'TEXT UNIQUE',
} satisfies { [Field in keyof User]: Column<User[Field]> }

/** Increment when older versions cannot read the table. */
const VERSION = 1

/**
 * Makes the table in a new database, and adds the columns that it lacks in an older one.
 *
 * @throws Error a newer version of the service made the table, or another program
 */
export function migrate(db: DatabaseSyncInstance, columns: Record<string, string> = COLUMNS): void {
  const definitions = Object.entries(columns).map(([name, type]) => `${name} ${type}`)
  const missing = () => {
    const rows = db.prepare("SELECT name FROM pragma_table_info('users')").all()
    const names = rows.map((row) => (row as { name: string }).name)
    return definitions.filter((column) => !names.includes(column.split(' ', 1)[0]!))
  }
  if (versionOf(db) === VERSION && missing().length === 0) return
  transactor(db)(() => {
    const version = versionOf(db) // read again: another process may have made the table meanwhile
    if (version > VERSION)
      throw new Error(`its schema has version ${version}, not ${VERSION}: use a newer service`)
    if (version === 0)
      db.exec(`CREATE TABLE users (${definitions.join()}) STRICT; PRAGMA user_version = ${VERSION}`)
    for (const definition of missing()) db.exec(`ALTER TABLE users ADD COLUMN ${definition}`)
  })
}

const versionOf = (db: DatabaseSyncInstance): number =>
  (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version

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
