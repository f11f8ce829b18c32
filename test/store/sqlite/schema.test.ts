// The table of a new database, and of one that an earlier version of the service made.
import { expect, test } from '@jest/globals'
import { databaseIn } from '../../../src/store/open.ts'
import { COLUMNS, migrate, MIGRATIONS } from '../../../src/store/sqlite/schema.ts'
import { StoreFailure } from '../../../src/store/user-store.ts'
import { databaseOf, sqlitePlace, useOwnStores, usersIn, type Place } from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

const { newPlace, open } = useOwnStores(sqlitePlace)

const ADA = { id: '665f1c2e8b3f4a0012d4c001', name: 'Ada\0', email: 'ada@example.com' }
const BOB = { id: '665f1c2e8b3f4a0012d4c002', name: 'Bob', email: '' }

/** A database as version 1.0.0 of the service left it, without a schema version. */
function placeOfVersion1(): Place {
  const place = newPlace()
  const db = databaseOf(place)
  db.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE users (id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, email TEXT UNIQUE) STRICT;
    INSERT INTO users VALUES ('${ADA.id}', 'Ada' || char(0), '${ADA.email}');
    INSERT INTO users VALUES ('${BOB.id}', 'Bob', NULL)`)
  db.close()
  return place
}

function readAt<T>(place: Place, sql: string): T[] {
  const db = databaseOf(place)
  const rows = db.prepare(sql).all()
  db.close()
  return rows as T[]
}
const columnsAt = (place: Place) =>
  readAt(place, "SELECT name, type FROM pragma_table_info('users')")
const versionAt = (place: Place) => readAt(place, 'PRAGMA user_version')

test('a new database has the columns of COLUMNS in a strict table, and the newest version', async () => {
  const place = newPlace()
  await open(place)
  expect(columnsAt(place)).toMatchObject(Object.keys(COLUMNS).map((name) => ({ name })))
  expect(readAt(place, "PRAGMA table_list('users')")).toMatchObject([{ strict: 1 }])
  expect(versionAt(place)).toEqual([{ user_version: MIGRATIONS.length }])
})

test('a database of version 1.0.0 is upgraded, keeps its users, and gets the columns of a new one', async () => {
  const [old, fresh] = [placeOfVersion1(), newPlace()]
  const store = await open(old)
  await open(fresh)
  expect(columnsAt(old)).toEqual(columnsAt(fresh))
  expect(versionAt(old)).toEqual(versionAt(fresh))
  expect(await usersIn(store)).toMatchObject([ADA, BOB])
  const created = await store.create(newUser())
  expect(await store.find(created.id)).toEqual(created)
})

test('a database that is opened many times at once is upgraded once', async () => {
  const place = placeOfVersion1()
  const stores = await Promise.all(Array.from({ length: 5 }, () => open(place)))
  for (const store of stores) expect(await usersIn(store)).toHaveLength(2)
})

/** Migrates a database with more migrations than there are. */
function migrateWith(place: Place, ...more: string[]): void {
  const db = databaseOf(place)
  try {
    migrate(db, [...MIGRATIONS, ...more])
  } finally {
    db.close()
  }
}

test('migrations run in order, each once', () => {
  const place = placeOfVersion1()
  const rename = (name: string) =>
    `UPDATE users SET name = name || '${name}' WHERE id = '${BOB.id}'`
  const names = () => readAt<{ name: string }>(place, 'SELECT name FROM users')[1]!.name
  migrateWith(place, rename('1'), rename('2'))
  migrateWith(place, rename('1'), rename('2'))
  expect(names()).toBe('Bob12')
  migrateWith(place, rename('1'), rename('2'), rename('3'))
  expect(names()).toBe('Bob123')
})

test('a migration that fails changes nothing', () => {
  const place = placeOfVersion1()
  expect(() => migrateWith(place, 'DELETE FROM users', 'nonsense')).toThrow('syntax error')
  expect(readAt(place, 'SELECT id FROM users')).toHaveLength(2)
  expect(versionAt(place)).toEqual([{ user_version: 0 }])
})

test('a migration that leaves other columns than COLUMNS fails, and names the columns', () => {
  const place = placeOfVersion1()
  const add = 'ALTER TABLE users ADD COLUMN nickname TEXT'
  expect(() => migrateWith(place, add)).toThrow(
    'the columns email, id, name, nickname, not email, id, name',
  )
  const drop = 'ALTER TABLE users DROP COLUMN name'
  expect(() => migrateWith(place, drop)).toThrow('the columns email, id, not email, id, name')
  expect(versionAt(place)).toEqual([{ user_version: 0 }])
})

test('a database of a newer version is refused, and stays as it is', async () => {
  const place = placeOfVersion1()
  const known = MIGRATIONS.length
  readAt(place, `PRAGMA user_version = ${known + 1}`)
  const opening = open(place)
  await expect(opening).rejects.toThrow(StoreFailure)
  const message = `its schema has version ${known + 1}, and this service knows versions up to ${known}`
  await expect(opening).rejects.toThrow(`SQLite in ${databaseIn(place.dataDir)}: ${message}`)
  expect(versionAt(place)).toEqual([{ user_version: known + 1 }])
})
