// What only the SQLite store does. (What every store does: ../user-store.test.ts.)
import { expect, test } from '@jest/globals'
import fs from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { databaseIn, openStore } from '../../../src/store/open.ts'
import { freezeSqlite, openDatabase } from '../../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { pagesOf } from '../../../src/store/pages.ts'
import { StoreFailure } from '../../../src/store/failure.ts'
import { asRoot, testAsRoot } from '../../support/root.ts'
import { databaseOf, sqlitePlace, useOwnStores, usersIn } from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

const { newPlace, open } = useOwnStores(sqlitePlace)

test('a database is made with its folders; only its owner can read it, and its log is empty once it is closed', async () => {
  const place = newPlace()
  const DATA_DIR = join(place.DATA_DIR, 'some/other')
  const store = await open({ ...place, DATA_DIR })
  await store.create(newUser())
  const [file, log] = [databaseIn(DATA_DIR), `${databaseIn(DATA_DIR)}-wal`]
  expect(fs.statSync(log).size).toBeGreaterThan(0)
  await store.close()
  expect([fs.statSync(log).size, fs.statSync(file).mode & 0o777]).toEqual([0, 0o600])
})

test('a write waits for the disk: synchronous is FULL', async () => {
  const db = await openDatabase(databaseIn(newPlace().DATA_DIR))
  expect({ ...db.prepare('PRAGMA synchronous').get() }).toEqual({ synchronous: 2 })
  db.close()
})

test('writes of one turn are one transaction', async () => {
  const place = newPlace()
  const store = await open(place)
  const logSize = () => fs.statSync(`${databaseIn(place.DATA_DIR)}-wal`).size
  const before = logSize()
  await Promise.all(Array.from({ length: 50 }, () => store.create(newUser())))
  expect(logSize() - before).toBeLessThan(50 * 4_096) // each transaction writes at least two pages
})

const USELESS = ['/proc/x', '/proc', '/dev/null'] // Node cannot make the folder, or a file in it, or it is a file
test.each(USELESS)('DATA_DIR is refused at once, and named, when it is %s', async (folder) => {
  const opening = openAt(folder)
  await expect(opening).rejects.toThrow(`cannot keep users in the folder ${folder} (DATA_DIR): E`)
})

const openAt = (folder: string) => openSqliteStore(databaseIn(folder))

test('a file that is not a database is refused, and named', async () => {
  const { DATA_DIR } = newPlace()
  const file = databaseIn(DATA_DIR)
  fs.writeFileSync(file, 'not a database '.repeat(100))
  const message = `cannot open SQLite in ${file}: file is not a database`
  await expect(openAt(DATA_DIR)).rejects.toThrow(message)
})

test('a database that is frozen does not change while services write, and takes the log in again afterwards', async () => {
  const place = newPlace()
  const file = databaseIn(place.DATA_DIR)
  const store = await open(place)
  await store.create(newUser())
  const { logSize, release } = await freezeSqlite(file)
  const frozen = fs.readFileSync(file)
  for (let i = 0; i < 3_000 && logSize() < 5_000_000; i += 1) await store.create(newUser()) // checkpoints begin at 4 MB
  expect(fs.readFileSync(file).equals(frozen)).toBe(true)
  await expect(freezeSqlite(file)).rejects.toThrow(`cannot back up SQLite in ${file}: its log`)
  await release()
  expect(logSize()).toBe(0)
  expect(fs.readFileSync(file).equals(frozen)).toBe(false)
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
  const create = (name: string) => store.create(newUser({ name })).catch((error: Error) => error)
  const outcomes = (...names: string[]) => Promise.all(names.map(create))
  const failed = expect.any(StoreFailure)
  expect(await outcomes('a', 'ABORT', 'b')).toMatchObject([{ name: 'a' }, failed, { name: 'b' }])
  expect(await outcomes('c', 'ROLLBACK', 'd')).toEqual([failed, failed, failed])
  expect(await outcomes('f', 'COMMIT')).toEqual([failed, failed])
  const undone = store.create(newUser({ name: 'ROLLBACK' }))
  await expect(undone).rejects.toThrow('cannot use the data store: no')
  expect(await outcomes('e')).toMatchObject([{ name: 'e' }])
  expect((await usersIn(store)).map(({ name }) => name)).toEqual(['a', 'b', 'e'])
  db.close()
})

test('other work goes on between the pages of lists, however many lists there are', async () => {
  const store = await open()
  const users = Array.from({ length: 2_000 }, () => newUser())
  await store.createMany(users, false)
  let [pages, most] = [0, 0]
  const list = async () => {
    for await (const _ of pagesOf(store)) pages += 1
  }
  const lists = Promise.all([list(), list(), list()])
  for (let i = 0; i < 50; i += 1) {
    const before = pages
    await turn()
    most = Math.max(most, pages - before)
  }
  await lists
  expect([pages, most]).toEqual([12, 1])
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
  const store = await openStore(place)
  const other = databaseOf(place)
  other.exec('BEGIN IMMEDIATE')
  await expect(store.create(newUser())).rejects.toThrow(StoreFailure)
  other.exec('ROLLBACK')
  expect(await store.create(newUser({ name: 'd' }))).toMatchObject({ name: 'd' })
  other.close()
  await store.close()
  await place.remove()
})

// SQLite would roll back a journal that it finds: rewrite the users, and delete the files that the journal names.
const FILES = ['users.db', 'users.db-journal', 'users.db-wal', 'users.db-shm']
test.each(FILES)('%s is refused when it is a link, or every user can write it', async (name) => {
  const { DATA_DIR } = newPlace()
  const [file, elsewhere] = [join(DATA_DIR, name), join(DATA_DIR, 'elsewhere')]
  fs.symlinkSync(elsewhere, file)
  await expect(openAt(DATA_DIR)).rejects.toThrow(`${file}: it is not a regular file`)
  expect(fs.existsSync(elsewhere)).toBe(false)
  fs.rmSync(file)
  fs.writeFileSync(file, '')
  fs.chmodSync(file, 0o666)
  await expect(openAt(DATA_DIR)).rejects.toThrow(`${file}: other users can write it; use chmod 600`)
})

testAsRoot('a file beside the database is refused when it belongs to another user', async () => {
  const { DATA_DIR } = newPlace()
  const file = join(DATA_DIR, 'users.db-journal')
  fs.writeFileSync(file, '')
  asRoot('chown', '1234', file)
  await expect(openAt(DATA_DIR)).rejects.toThrow(`${file}: it belongs to another user`)
})

test.each<[string, (file: string) => void]>([
  ['deleted', (file) => fs.rmSync(file)],
  ['deleted with its log', (file) => ['', '-wal', '-shm'].forEach((end) => fs.rmSync(file + end))],
  ['replaced by another file', (file) => fs.renameSync(`${file}.copy`, file)],
  [
    'overwritten, and its log deleted, as a restore does',
    (file) => {
      fs.copyFileSync(`${file}.copy`, file)
      fs.rmSync(`${file}-wal`)
    },
  ],
])('no write is acknowledged after the database was %s', async (_, change) => {
  const place = newPlace()
  const file = databaseIn(place.DATA_DIR)
  const store = await open(place)
  fs.copyFileSync(file, `${file}.copy`)
  const { id } = await store.create(newUser())
  expect(store.isGone()).toBe(false)
  change(file)
  expect(store.isGone()).toBe(true)
  await expect(store.create(newUser())).rejects.toThrow('its file was deleted or replaced')
  await expect(store.createMany([newUser()], false)).rejects.toThrow('its file was deleted')
  await expect(store.remove(id)).rejects.toThrow(StoreFailure)
})

test('a store that closes after a restore over its database leaves the restored database as it is', async () => {
  const place = newPlace()
  const file = databaseIn(place.DATA_DIR)
  const store = await open(place)
  const createSome = () => Promise.all(Array.from({ length: 1_000 }, () => store.create(newUser())))
  await createSome()
  const { release } = await freezeSqlite(file)
  const copy = fs.readFileSync(file)
  await release()
  await createSome()

  fs.writeFileSync(file, copy)
  for (const suffix of ['-wal', '-shm']) fs.rmSync(file + suffix)
  await store.close()
  expect(fs.readFileSync(file).equals(copy)).toBe(true)
  expect(fs.existsSync(`${file}-wal`)).toBe(false)
})

test('a database is not gone after writes, imports, a backup and the end of another program', async () => {
  const place = newPlace()
  const store = await open(place)
  const users = Array.from({ length: 2_000 }, () => newUser({ name: 'x'.repeat(5_000) }))
  await store.createMany(users, false)
  const other = await openStore(place)
  await other.create(newUser())
  await other.close()
  const { release } = await freezeSqlite(databaseIn(place.DATA_DIR))
  await release()
  await store.create(newUser())
  expect(store.isGone()).toBe(false)
})

test('a new user comes last, also if the newest one was made by a clock that was ahead', async () => {
  const place = newPlace()
  const store = await openStore(place)
  const id = `${(Math.floor(Date.now() / 1000) + 86_400).toString(16)}ffffffffffffffff`
  const last = 'f'.repeat(24) // an import can have any id; after this one there is none
  await store.createMany(
    [id, last].map((id) => ({ ...newUser(), id })),
    false,
  )
  await store.close()
  const created = await (await open(place)).create(newUser())
  expect(created.id > id).toBe(true)
})
