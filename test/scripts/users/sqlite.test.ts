// What is no backup, and what restore never overwrites. (The whole program: restore.long.ts.)
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import fs from 'node:fs'
import { gzipSync } from 'node:zlib'
import { checkBackup, copySqlite, lockFormer, replace } from '../../../scripts/users/sqlite.ts'
import { databaseIn } from '../../../src/store/open.ts'
import { createAt, sqlitePlace, usePlaces } from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

const at = usePlaces()
let database: string
let copy: string
let place: ReturnType<typeof at>
beforeEach(async () => {
  const other = await filled()
  place = at(sqlitePlace)
  database = databaseIn(place.DATA_DIR)
  copy = `${database}.part`
  await copySqlite(databaseIn(other.DATA_DIR), copy)
})
async function filled() {
  const other = at(sqlitePlace)
  await createAt(other, newUser())
  return other
}
/** Makes a database that no process has open: one that this process has used stays open. */
const makeFormer = async () =>
  fs.cpSync((await filled()).DATA_DIR, place.DATA_DIR, { recursive: true })
afterEach(() => void jest.restoreAllMocks())

/** Calls `change` before the first call of a function of `fs`. */
function before(name: 'fsyncSync' | 'lstatSync' | 'linkSync' | 'renameSync', change: () => void) {
  const call = fs[name] as (...args: unknown[]) => unknown
  const spy = jest.spyOn(fs, name) as jest.SpiedFunction<typeof call>
  spy.mockImplementationOnce((...args) => (change(), call(...args)))
}
/** As on a file system without hard links. */
const noLinks = (code = 'EPERM') =>
  jest.spyOn(fs, 'linkSync').mockImplementation(() => {
    throw Object.assign(new Error(`${code}: link`), { code })
  })
const namesIn = () => fs.readdirSync(place.DATA_DIR).map((name) => name.replace(/\d+/, 'N'))

/** Runs SQL in the copy. */
const sql = (text: string) => () => new DatabaseSync(copy).exec(text)
const other = (text: string) => sql(`DROP TABLE users; ${text}`)
const write = (change: (bytes: Buffer) => Uint8Array) => () =>
  fs.writeFileSync(copy, change(fs.readFileSync(copy)))
const TEXTS = 'id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL'
const TRIGGER = 'CREATE TRIGGER x AFTER INSERT ON USERS BEGIN DELETE FROM users; END'

test.each<[string, () => void, RegExp]>([
  ['an empty file', write(() => Buffer.of()), /no table of users/],
  ['a compressed backup', write(gzipSync), /not a database/],
  ['a backup that broke off early', write((bytes) => bytes.subarray(0, 5_000)), /malformed/],
  ['a backup with a damaged page', write((bytes) => bytes.fill('x', 4_096, 8_192)), /Tree 2/],
  ['a backup of a newer service', sql('PRAGMA user_version = 2'), /use a newer service/],
  ['a view of users', other('CREATE VIEW users AS SELECT 1 AS id'), /no table of users/],
  ['a table with few rules', other(`CREATE TABLE users (${TEXTS}, email TEXT) STRICT`), /not as a/],
  ['users with another rule', sql('CREATE UNIQUE INDEX x ON users (name)'), /not as a service/],
  ['users with a trigger', sql(TRIGGER), /not as a service/],
  ['a database without its log', sql('PRAGMA journal_mode = WAL'), /WAL mode, so it can lack/],
])('%s is not a backup', (_, change, message) => {
  change()
  expect(() => checkBackup(copy)).toThrow(message)
})

test.each([
  ['missing', () => {}, true],
  ['empty', () => fs.writeFileSync(database, ''), true],
  ['missing', () => {}, false],
  ['empty', () => fs.writeFileSync(database, ''), false],
])(
  'where it was %s, a database that a service makes at the last moment is not overwritten',
  (_, make, hasLinks) => {
    make()
    fs.writeFileSync(`${database}-wal`, 'left')
    const former = lockFormer(database)
    if (!hasLinks) noLinks()
    before('fsyncSync', () => fs.writeFileSync(database, 'of a service'))
    expect(() => replace(database, copy, former)).toThrow(/meanwhile|EEXIST/)
    expect(fs.readFileSync(database, 'utf8')).toBe('of a service')
    expect(namesIn()).toEqual(['users.db', 'users.db-wal', 'users.db.part'])
  },
)

test('a database that is replaced while it is locked is refused', async () => {
  await makeFormer()
  const lstat = fs.lstatSync
  jest.spyOn(fs, 'lstatSync').mockImplementationOnce((path) => {
    const found = lstat(path)
    fs.renameSync(copy, database)
    return found
  })
  expect(() => lockFormer(database)).toThrow('was replaced meanwhile')
})

test('without hard links, a database is replaced, and the former one is kept', async () => {
  await makeFormer()
  const bytes = fs.readFileSync(copy)
  const locked = lockFormer(database)
  noLinks()
  const kept = replace(database, copy, locked)
  expect(namesIn()).toEqual(['users.db', 'users.db.former-N'])
  expect(fs.readFileSync(database)).toEqual(bytes)
  expect(fs.statSync(kept).size).toBeGreaterThan(0)
})

test.each([
  ['linkSync', true],
  ['renameSync', true],
  ['renameSync', false],
] as const)('when %s fails, nothing is changed', async (name, hasLinks) => {
  await makeFormer()
  const locked = lockFormer(database)
  if (!hasLinks) noLinks()
  before(name, () => {
    throw Object.assign(new Error('EIO: failed'), { code: 'EIO' })
  })
  expect(() => replace(database, copy, locked)).toThrow('EIO: failed')
  const left = namesIn().filter((name) => !/-(wal|shm)$/.test(name))
  expect(left).toEqual(['users.db', 'users.db.part'])
  expect(fs.readFileSync(database)[19]).toBe(name === 'renameSync' && hasLinks ? 1 : 2) // 2 is WAL mode
})

const testAsRoot = process.getuid?.() === 0 ? test : test.skip
testAsRoot('a database or a folder of another account is refused', () => {
  const refused = (file: string, named: string) =>
    expect(() => lockFormer(file)).toThrow(`${named} belongs to the uid 1000: run this as that`)
  fs.chownSync(copy, 1_000, 1_000)
  refused(copy, copy)
  fs.chownSync(place.DATA_DIR, 1_000, 1_000)
  for (const file of [database, `${place.DATA_DIR}/new/users.db`]) refused(file, place.DATA_DIR)
})

test.each(['CREATE TABLE users (id, name)', 'CREATE TABLE notes (id)'])(
  'a database of another program is not copied as users: %s',
  async (table) => {
    fs.mkdirSync(place.DATA_DIR, { recursive: true })
    const db = new DatabaseSync(database)
    db.exec(table)
    db.close()
    fs.rmSync(copy)
    const copied = copySqlite(database, copy)
    await expect(copied).rejects.toThrow('it has no table of users of this service')
  },
)
