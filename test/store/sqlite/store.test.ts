// What only the SQLite store does. (What every store does: ../user-store.test.ts.)
import { expect, jest, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { databaseIn, openStore } from '../../../src/store/open.ts'
import { openDatabase, retryWhileBusy } from '../../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../../src/store/sqlite/store.ts'
import { pagesOf } from '../../../src/store/pages.ts'
import { StoreFailure } from '../../../src/chassis/index.ts'
import { dist } from '../../support/program.ts'
import {
  createAt,
  createIn,
  databaseOf,
  sqlitePlace,
  useOwnStores,
  usersIn,
} from '../../support/stores.ts'
import { newUser, user } from '../../support/users.ts'

const { newPlace, open } = useOwnStores(sqlitePlace)

test('a database is made with its folders; only its owner can read it, and its log is empty once it is closed', async () => {
  const place = newPlace()
  const DATA_DIR = join(place.DATA_DIR, 'some/other')
  const store = await open({ ...place, DATA_DIR })
  await store.create(newUser())
  const [file, log] = [databaseIn(DATA_DIR), `${databaseIn(DATA_DIR)}-wal`]
  expect(fs.statSync(log).size).toBeGreaterThan(0)
  await store.close()
  const modes = [file, DATA_DIR, join(DATA_DIR, '..')].map((path) => fs.statSync(path).mode & 0o777)
  expect([fs.statSync(log).size, ...modes]).toEqual([0, 0o600, 0o700, 0o700])
})

test('a page has as many users as fit, whatever their length', async () => {
  const store = await open()
  const exact = [32_768, 32_768]
  const lengths = [...exact, 30_000, 30_000, 30_000, 50, 50, 60_000, ...exact]
  await createIn(
    store,
    lengths.map((length) => user({ name: 'x'.repeat(length - 24), email: '' })),
  )
  const counts: number[] = []
  for await (const page of pagesOf(store)) counts.push(page.length)
  expect(counts).toEqual([2, 2, 3, 1, 2])
  const { id: after } = (await usersIn(store)).at(-3)!
  expect((await store.list({ after, limit: 2 })).users).toHaveLength(2)
})

// SECURITY.md: An acknowledged write is durable.
test('a write waits for the disk: synchronous is FULL', async () => {
  const db = await openDatabase(databaseIn(newPlace().DATA_DIR))
  expect({ ...db.prepare('PRAGMA synchronous').get() }).toEqual({ synchronous: 2 })
  db.close()
})

const openAt = (folder: string) => openSqliteStore(databaseIn(folder))

test('a file that is not a database is refused, and named, and so is a link', async () => {
  const { DATA_DIR } = newPlace()
  const file = databaseIn(DATA_DIR)
  fs.writeFileSync(file, 'not a database '.repeat(100))
  const message = `cannot open SQLite in ${file}: file is not a database`
  await expect(openAt(DATA_DIR)).rejects.toMatchObject({ message, kind: 'error' })
  fs.renameSync(file, `${file}.target`)
  fs.symlinkSync(`${file}.target`, file)
  await expect(openAt(DATA_DIR)).rejects.toThrow(`folder ${DATA_DIR} (DATA_DIR): ELOOP: `)
})

test('a DATA_DIR that is a file is refused, and named', async () => {
  const file = databaseIn(newPlace().DATA_DIR)
  fs.writeFileSync(file, '')
  for (const DATA_DIR of [file, join(file, 'data')])
    await expect(openAt(DATA_DIR)).rejects.toThrow(`folder ${DATA_DIR} (DATA_DIR): ENOTDIR: `)
})

test('a database that is replaced while it is opened is not used, and the new one gets no log', async () => {
  const [place, other] = [newPlace(), newPlace()]
  const [file, copy] = [databaseIn(place.DATA_DIR), `${databaseIn(place.DATA_DIR)}.part`]
  await createAt(other, newUser())
  for (const to of [file, copy]) fs.copyFileSync(databaseIn(other.DATA_DIR), to)
  const starting = openAt(place.DATA_DIR)
  fs.renameSync(copy, file)
  await expect(starting).rejects.toThrow(`open SQLite in ${file}: it was replaced meanwhile: start`)
  const left = fs.readdirSync(place.DATA_DIR).filter((name) => !name.includes('replaced-'))
  expect(left).toEqual(['users.db'])
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
  const outcomes = (name: string) => Promise.all(['a', name, 'b'].map(create))
  const failure = (reason: string) => new StoreFailure(new Error(reason))
  expect(await outcomes('ABORT')).toMatchObject([{ name: 'a' }, failure('no'), { name: 'b' }])
  for (const [name, reason] of Object.entries({
    ROLLBACK: 'no',
    COMMIT: 'FOREIGN KEY constraint failed',
  }))
    expect(await outcomes(name)).toEqual(Array(3).fill(failure(reason)))
  expect(await create('e')).toMatchObject({ name: 'e' })
  expect((await usersIn(store)).map(({ name }) => name)).toEqual(['a', 'b', 'e'])
  db.close()
})

test('other work goes on between the pages of lists, however many lists there are', async () => {
  const store = await open()
  const users = Array.from({ length: 2_000 }, () => newUser())
  await createIn(store, users)
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
  for (const _ of [1, 2, 3]) await turn() // the writes are tried, and fail, at the end of the second
  expect(await store.oldest()).toBeNull()
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

// BUSY, BUSY_RECOVERY and BUSY_SNAPSHOT, https://www.sqlite.org/rescode.html
test.each([5, 261, 517])('a call is tried again after the code %i of SQLite', async (errcode) => {
  const errors = [Object.assign(new Error('busy'), { errcode })]
  const call = () => {
    const error = errors.pop()
    if (error) throw error
    return 'done'
  }
  expect(await retryWhileBusy(call)).toBe('done')
})

test('a database that is replaced within 2 s of another change of its folder is missed by no write', async () => {
  const place = newPlace()
  const store = await open(place)
  const { statSync } = fs
  const now = Date.now()
  jest.spyOn(Date, 'now').mockReturnValue(now)
  jest.spyOn(fs, 'statSync').mockImplementation(((path: string, options: object) => {
    const found = statSync(path, options)
    return path === place.DATA_DIR ? Object.assign(found, { ctimeMs: now - 2_000 }) : found // as on FAT
  }) as typeof fs.statSync)
  await store.create(newUser())
  fs.renameSync(databaseIn(place.DATA_DIR), `${databaseIn(place.DATA_DIR)}.old`)
  await expect(store.create(newUser())).rejects.toThrow('its file was deleted or replaced')
  jest.restoreAllMocks()
})

const { getuid, env } = process
const { PATH } = env
/** Lets root do only what its files permit. */
const AS_OTHERS = getuid!() === 0 ? ['setpriv', '--bounding-set=-dac_override'] : []
test('a folder that this process may not write to is refused, and named with the user of the process', () => {
  const { DATA_DIR } = newPlace()
  fs.writeFileSync(databaseIn(DATA_DIR), '', { mode: 0o666 })
  fs.chmodSync(DATA_DIR, 0o555)
  const node = [...AS_OTHERS, process.execPath, `${dist}src/main.js`]
  const options = { env: { DATA_DIR, PORT: '0', OPS_PORT: '0', PATH }, encoding: 'utf8' } as const
  const { status, stderr } = spawnSync('env', node, options)
  const reason =
    /^cannot keep users in the folder (.+) \(DATA_DIR\): EACCES: .+; this process has the uid (\d+)\n$/
  expect([status, ...reason.exec(stderr)!.slice(1)]).toEqual([1, DATA_DIR, `${getuid!()}`])
})

test('a new user comes last, also if the newest one was made by a clock that was ahead', async () => {
  const place = newPlace()
  const store = await openStore(place)
  const id = `${(Math.floor(Date.now() / 1000) + 86_400).toString(16)}ffffffffffffffff`
  const last = 'f'.repeat(24) // an import can have any id; after this one there is none
  await createIn(store, [user({ id }), user({ id: last })])
  await store.close()
  const created = await (await open(place)).create(newUser())
  expect(created.id > id).toBe(true)
})
