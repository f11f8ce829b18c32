// The table of a new database, and of one of an earlier version.
import { expect, test } from '@jest/globals'
import { databaseIn } from '../../../src/store/open.ts'
import { COLUMNS, migrate } from '../../../src/store/sqlite/schema.ts'
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

test('a column that an older database lacks is added, once', () => {
  const place = placeOfVersion1()
  const columns = { ...COLUMNS, phone: 'TEXT' }
  for (let i = 0; i < 2; i += 1) inDatabase(place, (db) => migrate(db, columns))
  expect(columnsAt(place)).toMatchObject(Object.keys(columns).map((name) => ({ name })))
  expect(readAt(place, 'SELECT phone FROM users')).toEqual([{ phone: null }, { phone: null }])
})

test('a table that another process makes at the same time is used', () => {
  const place = newPlace()
  inDatabase(place, (db) => {
    const prepare = (sql: string) => {
      if (sql.startsWith('BEGIN')) inDatabase(place, (other) => migrate(other)) // the version was read before
      return db.prepare(sql)
    }
    const late = { prepare, exec: (sql: string) => db.exec(sql), isTransaction: true }
    migrate(late as unknown as typeof db)
  })
  expect(columnsAt(place)).toMatchObject(Object.keys(COLUMNS).map((name) => ({ name })))
})

test('a table of another program is refused, and stays as it is', async () => {
  const place = newPlace()
  readAt(place, 'CREATE TABLE users (id INTEGER PRIMARY KEY)')
  for (const version of [0, 1]) {
    readAt(place, `PRAGMA user_version = ${version}`)
    await expect(open(place)).rejects.toThrow(/already exists|Cannot add/)
  }
  expect(columnsAt(place)).toEqual([{ name: 'id', type: 'INTEGER' }])
})

test('a database of a newer version is refused, and stays as it is', async () => {
  const place = placeOfVersion1()
  readAt(place, 'PRAGMA user_version = 2')
  const reason = 'its schema has version 2, not 1: use a newer service'
  const message = `cannot open SQLite in ${databaseIn(place.DATA_DIR)}: ${reason}`
  await expect(open(place)).rejects.toThrow(message)
  expect(versionAt(place)).toEqual([{ user_version: 2 }])
})
