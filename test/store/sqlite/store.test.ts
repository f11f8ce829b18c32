// What only the SQLite store does. (What every store does: ../user-store.test.ts.)
import { expect, test } from '@jest/globals'
import {
  chmodSync,
  chownSync,
  existsSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { databaseIn } from '../../../src/store/open.ts'
import { backUpSqlite, openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { StoreFailure } from '../../../src/store/user-store.ts'
import { databaseOf, sqlitePlace, useOwnStores, usersIn } from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

const { newPlace, open } = useOwnStores(sqlitePlace)

test('a closed store has everything in the database itself; its log is empty', async () => {
  const place = newPlace()
  const store = await open(place)
  await store.create(newUser())
  const log = `${databaseIn(place.dataDir)}-wal`
  expect(statSync(log).size).toBeGreaterThan(0)
  await store.close()
  expect(statSync(log).size).toBe(0)
})

test('the file is in WAL mode, and only its owner can read it', async () => {
  const place = newPlace()
  await open(place)
  const db = databaseOf(place)
  expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
  db.close()
  expect(statSync(databaseIn(place.dataDir)).mode & 0o777).toBe(0o600)
})

test('writes of one turn are one transaction', async () => {
  const sizes: number[] = []
  const store = await open(newPlace(), (operation, size) => {
    expect(operation).toBe('write')
    sizes.push(size)
  })
  const users = Array.from({ length: 50 }, () => newUser())
  await Promise.all(users.map((user) => store.create(user)))
  expect(sizes).toEqual([50])
})

test('writes that take long are several transactions, with other work between', async () => {
  let turns = 0
  const atTurn = () => {
    turns += 1
    counting = setImmediate(atTurn)
  }
  let counting = setImmediate(atTurn)
  const ends: number[] = []
  const store = await open(newPlace(), () => void ends.push(turns))
  // Each write compares its email with some of these.
  const long = (i: number) =>
    newUser({ email: `${String.fromCodePoint(97 + (i % 26))}${i}`.padEnd(1_000_000, 'x') })
  await store.createMany(
    Array.from({ length: 60 }, (_, i) => long(i)),
    false,
  )
  const some = (count: number) =>
    Promise.all(Array.from({ length: count }, () => store.create(newUser())))
  const all = [some(600), turn().then(() => some(100))]
  await Promise.all(all).finally(() => clearImmediate(counting))
  expect(ends.length).toBeGreaterThan(2)
  const between = ends.slice(1).map((end, i) => end - ends[i]!)
  expect(Math.max(...between)).toBeGreaterThanOrEqual(16) // a quick one needs none after it
})

test('the sizes of long users are known without reading their texts', async () => {
  const place = newPlace()
  const store = await open(place)
  const long = () => newUser({ name: 'x'.repeat(1_000_000) })
  await store.createMany(Array.from({ length: 50 }, long), false)
  let longest = 0
  for (let i = 0; i < 3; i += 1) {
    const start = performance.now()
    for await (const page of store.list()) {
      expect(page).toHaveLength(1)
      longest = performance.now() - start
      break
    }
  }
  expect(longest).toBeLessThan(100) // 5 ms on an idle machine; 50 users take more than 200 ms
})

test.each([
  ['a folder that cannot be made', '/proc/x'],
  ['a folder in which no file can be made', '/proc'],
  ['a file', '/dev/null'],
])('DATA_DIR is refused at once, and named, when it is %s', (_, folder) => {
  const opening = () => openSqliteStore(databaseIn(folder))
  expect(opening).toThrow(StoreFailure)
  expect(opening).toThrow(`cannot keep users in the folder ${folder} (DATA_DIR): E`)
})

test('a folder is made with its parents', async () => {
  const place = newPlace()
  const dataDir = join(place.dataDir, 'some/other')
  await open({ ...place, dataDir })
  expect(existsSync(databaseIn(dataDir))).toBe(true)
})

test('a file that is not a database is refused, and named', () => {
  const file = databaseIn(newPlace().dataDir)
  writeFileSync(file, 'not a database '.repeat(100))
  const opening = () => openSqliteStore(file)
  expect(opening).toThrow(StoreFailure)
  expect(opening).toThrow(`cannot open SQLite in ${file}: file is not a database`)
})

test('a backup is made while the store is in use, and never over another file', async () => {
  const place = newPlace()
  const copy = { ...place, dataDir: join(place.dataDir, 'copy') }
  const [from, to] = [databaseIn(place.dataDir), databaseIn(copy.dataDir)]
  const store = await open(place)
  await (await open(copy)).close()
  const message = `cannot back up SQLite in ${from} to ${to}: output file already`
  expect(() => backUpSqlite(from, to)).toThrow(message)
  rmSync(to)
  const created = await store.create(newUser())
  backUpSqlite(from, to)
  expect(await usersIn(await open(copy))).toEqual([created])
  const missing = join(place.dataDir, 'missing')
  expect(() => backUpSqlite(missing, `${to}2`)).toThrow(StoreFailure)
  expect(existsSync(`${to}2`)).toBe(false)
})

test('a write that fails in a transaction fails alone, unless SQLite undoes the transaction', async () => {
  const place = newPlace()
  const store = await open(place)
  const db = databaseOf(place)
  db.exec('CREATE TABLE others (id TEXT REFERENCES users (id) DEFERRABLE INITIALLY DEFERRED)')
  db.exec(`CREATE TRIGGER refuse_COMMIT AFTER INSERT ON users WHEN NEW.name = 'COMMIT'
    BEGIN INSERT INTO others VALUES ('nobody'); END`)
  for (const name of ['ABORT', 'ROLLBACK']) {
    db.exec(`CREATE TRIGGER refuse_${name} BEFORE INSERT ON users WHEN NEW.name = '${name}'
      BEGIN SELECT RAISE(${name}, 'no'); END`)
  }
  const create = (...names: string[]) =>
    Promise.allSettled(names.map((name) => store.create(newUser({ name }))))
  const outcomes = async (...names: string[]) =>
    (await create(...names)).map((outcome) =>
      outcome.status === 'rejected' ? outcome.reason.constructor : outcome.value.name,
    )
  expect(await outcomes('a', 'ABORT', 'b')).toEqual(['a', StoreFailure, 'b'])
  expect(await outcomes('c', 'ROLLBACK', 'd')).toEqual([StoreFailure, StoreFailure, StoreFailure])
  expect(await outcomes('f', 'COMMIT')).toEqual([StoreFailure, StoreFailure])
  const [undone] = await create('ROLLBACK')
  expect(undone).toMatchObject({ reason: { message: 'cannot use the data store: no' } })
  expect(await outcomes('e')).toEqual(['e'])
  expect((await usersIn(store)).map(({ name }) => name)).toEqual(['a', 'b', 'e'])
  db.close()
})

test('a write waits for one of another process without blocking the service', async () => {
  const place = newPlace()
  const store = await open(place)
  const other = databaseOf(place)
  other.exec('BEGIN IMMEDIATE')
  const writes = ['a', 'b'].map((name) => store.create(newUser({ name })))
  await turn() // at its end the writes are tried
  expect(await store.isEmpty()).toBe(true)
  other.exec('COMMIT')
  expect(await Promise.all(writes)).toMatchObject([{ name: 'a' }, { name: 'b' }])
  other.close()
})

// Waits for two seconds, meanwhile the other tests run.
test.concurrent('a write that waits too long fails, and the next succeeds', async () => {
  const place = sqlitePlace()
  const store = openSqliteStore(databaseIn(place.dataDir))
  const other = databaseOf(place)
  other.exec('BEGIN IMMEDIATE')
  await expect(store.create(newUser())).rejects.toThrow(StoreFailure)
  other.exec('ROLLBACK')
  expect(await store.create(newUser({ name: 'd' }))).toMatchObject({ name: 'd' })
  other.close()
  await store.close()
  await place.remove()
})

const testAsRoot = process.geteuid?.() === 0 ? test : test.skip
testAsRoot('a database file that belongs to another user is refused', () => {
  const file = databaseIn(newPlace().dataDir)
  writeFileSync(file, '')
  chownSync(file, 1234, 1234)
  expect(() => openSqliteStore(file)).toThrow(`${file} belongs to another user`)
})

test.each([
  [
    'that is a symbolic link',
    (file: string) => symlinkSync('/tmp/elsewhere.db', file),
    'regular file',
  ],
  ['that every user can write', (file: string) => writeMode(file, 0o666), 'every user can write'],
])('a database file %s is refused', async (_, plant, reason) => {
  const { dataDir } = newPlace()
  for (const name of ['users.db', 'users.db-wal']) {
    const file = join(dataDir, name)
    plant(file)
    expect(() => openSqliteStore(join(dataDir, 'users.db'))).toThrow(reason)
    rmSync(file)
  }
  expect(existsSync('/tmp/elsewhere.db')).toBe(false)
})

function writeMode(file: string, mode: number): void {
  writeFileSync(file, '')
  chmodSync(file, mode)
}
