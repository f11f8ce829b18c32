// The table of a new database, and of one of an earlier version.
import { expect, test } from '@jest/globals'
import { databaseIn } from '../../../src/store/open.ts'
import { COLUMNS, migrate, MIGRATIONS } from '../../../src/store/sqlite/schema.ts'
import { databaseOf, sqlitePlace, useOwnStores, usersIn, type Place } from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

const { newPlace, open } = useOwnStores(sqlitePlace)

const ADA = { id: '665f1c2e8b3f4a0012d4c001', name: 'Ada\0', email: 'ada@example.com' }
const BOB = { id: '665f1c2e8b3f4a0012d4c002', name: 'Bob', email: '' }

/** A database as version 2.1.0 of the service left it. */
function placeOfVersion1(): Place {
  const place = newPlace()
  inDatabase(place, (db) =>
    db.exec(`
      PRAGMA journal_mode = WAL;
      CREATE TABLE users (id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE) STRICT;
      PRAGMA user_version = 1;
      INSERT INTO users VALUES ('${ADA.id}', 'Ada' || char(0), '${ADA.email}');
      INSERT INTO users VALUES ('${BOB.id}', 'Bob', NULL)`),
  )
  return place
}

function inDatabase<T>(place: Place, work: (db: ReturnType<typeof databaseOf>) => T): T {
  const db = databaseOf(place)
  try {
    return work(db)
  } finally {
    db.close()
  }
}

const readAt = (place: Place, sql: string) => inDatabase(place, (db) => db.prepare(sql).all())
const columnsAt = (place: Place) =>
  readAt(place, "SELECT name, type FROM pragma_table_info('users')")
const versionAt = (place: Place) => readAt(place, 'PRAGMA user_version')

test('a new database has the columns of COLUMNS in a strict table, and the newest version', async () => {
  const place = newPlace()
  await open(place)
  expect(columnsAt(place)).toMatchObject(Object.keys(COLUMNS).map((name) => ({ name })))
  expect(readAt(place, "PRAGMA table_list('users')")).toMatchObject([{ strict: 1 }])
  expect(versionAt(place)).toEqual([{ user_version: 1 + MIGRATIONS.length }])
})

test('a database of version 2.1.0 stays valid, keeps its users, and has the columns of a new one', async () => {
  const [old, fresh] = [placeOfVersion1(), newPlace()]
  const store = await open(old)
  await open(fresh)
  expect(columnsAt(old)).toEqual(columnsAt(fresh))
  expect(versionAt(old)).toEqual(versionAt(fresh))
  expect(await usersIn(store)).toMatchObject([ADA, BOB])
  const created = await store.create(newUser())
  expect(await store.find(created.id)).toEqual(created)
})

/** Migrates a database with more migrations than there are. */
const migrateWith = (place: Place, ...more: string[]) =>
  inDatabase(place, (db) => migrate(db, [...MIGRATIONS, ...more]))

test('migrations run in order, each once', () => {
  const place = placeOfVersion1()
  const rename = (name: string) =>
    `UPDATE users SET name = name || '${name}' WHERE id = '${BOB.id}'`
  const names = () => readAt(place, 'SELECT name FROM users')
  migrateWith(place, rename('1'), rename('2'))
  migrateWith(place, rename('1'), rename('2'))
  expect(names()).toMatchObject([{}, { name: 'Bob12' }])
  migrateWith(place, rename('1'), rename('2'), rename('3'))
  expect(names()).toMatchObject([{}, { name: 'Bob123' }])
})

test.each([
  ['nonsense', 'syntax error'],
  ['ALTER TABLE users DROP COLUMN name', 'no such column: name'],
])('a migration that fails, or leaves a column out, changes nothing: %s', (sql, message) => {
  const place = placeOfVersion1()
  expect(() => migrateWith(place, 'DELETE FROM users', sql)).toThrow(message)
  expect(readAt(place, 'SELECT id FROM users')).toHaveLength(2)
  expect(versionAt(place)).toEqual([{ user_version: 1 }])
})

test('a database of a newer version is refused, and stays as it is', async () => {
  const place = placeOfVersion1()
  const known = 1 + MIGRATIONS.length
  readAt(place, `PRAGMA user_version = ${known + 1}`)
  const reason = `its schema has version ${known + 1}, and this service knows versions up to ${known}`
  const message = `cannot open SQLite in ${databaseIn(place.DATA_DIR)}: ${reason}`
  await expect(open(place)).rejects.toThrow(message)
  expect(versionAt(place)).toEqual([{ user_version: known + 1 }])
})
