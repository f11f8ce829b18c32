// The database of a running service is deleted, renamed or replaced by a copy.
import { expect, test } from '@jest/globals'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { databaseIn, openStore } from '../../../src/store/open.ts'
import { copySqlite } from '../../../scripts/users/sqlite.ts'
import { StoreFailure } from '../../../src/chassis/index.ts'
import type { User } from '../../../src/store/user-store.ts'
import { started, useUndo } from '../../support/program.ts'
import { send } from '../../support/service.ts'
import type { Place } from '../../support/stores.ts'
import {
  createIn,
  createAt,
  faultsIn,
  SECRET,
  sqlitePlace,
  useOwnStores,
  usersAt,
} from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

useUndo()
const { newPlace, open } = useOwnStores(sqlitePlace)

const many = () => Array.from({ length: 1_000 }, () => newUser())
const filesIn = ({ DATA_DIR }: Place) =>
  fs.readdirSync(DATA_DIR).map((name) => name.replace(/\d+$/, 'N'))

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'a copy that is moved over the database is restored by following /readyz, also when %s ends the service',
  async (signal) => {
    const place = newPlace()
    const file = databaseIn(place.DATA_DIR)
    await createAt(place, ...many())
    const users = await usersAt(place)
    fs.copyFileSync(file, `${file}.copy`)
    const start = async () => {
      const service = await started(place, { SIGNING_SECRET: SECRET, STOP_DELAY: '0s' })
      const port = Number(new URL(service.url()).port)
      const post = async () => (await send(port, 'POST /users', { json: {} })).status
      return { service, post, list: async () => (await send(port, 'GET /users')).json as User[] }
    }
    const former = await start()
    const other = await openStore(place)
    await Promise.all(users.slice(0, 500).map(({ id }) => other.remove(id)))
    await other.close()
    expect(await former.post()).toBe(201)

    fs.renameSync(`${file}.copy`, file)
    expect(await former.service.probe('/readyz')).toMatchObject({
      status: 503,
      text: expect.stringMatching(/^the database was .* then restart the service, which opens /),
    })
    expect([await former.post(), (await former.list()).length]).toEqual([500, 501])
    const { output } = former.service
    const moved = /"level":40.*the log of the former database is now (\S+) and/
    while (!moved.test(output.stdout)) await sleep(10)
    expect(fs.existsSync(moved.exec(output.stdout)![1]!)).toBe(true)
    await former.service.stop(signal)

    const { service, post, list } = await start()
    expect((await service.probe('/readyz')).status).toBe(200)
    expect([await list(), faultsIn(place)]).toEqual([users, []])
    expect([await post(), (await list()).length]).toEqual([201, 1_001])
  },
)

/** An open store that has written to its log, and a copy of each of its files. */
async function written() {
  const place = newPlace()
  const file = databaseIn(place.DATA_DIR)
  const store = await open(place)
  const user = await store.create(newUser())
  for (const end of ['', '-wal', '-shm']) fs.copyFileSync(file + end, `${file}${end}.copy`)
  setBack(dirname(file))
  await sleep(2_100) // longer than two changes of a folder can have the same time: then the store remembers the folder
  expect(store.isGone?.()).toBe(false)
  return { place, file, store, user }
}

test.each<[string, (file: string) => void]>([
  ['the database was deleted', (file) => fs.rmSync(file)],
  ['the database was renamed', (file) => fs.renameSync(file, `${file}.old`)],
  ['the database was replaced by a copy', (file) => fs.renameSync(`${file}.copy`, file)],
  ['the database was replaced, and the time of its folder set back', replaceAsRsync],
  ['its folder was replaced', (file) => replaceFolder(dirname(file))],
  ['its log was deleted', (file) => fs.rmSync(`${file}-wal`)],
  ['its log was replaced', (file) => fs.renameSync(`${file}-wal.copy`, `${file}-wal`)],
  ['its index was deleted', (file) => fs.rmSync(`${file}-shm`)],
])('no write is acknowledged after %s', async (_, change) => {
  const { file, store, user } = await written()
  change(file)
  await expect(store.create(newUser())).rejects.toThrow('its file was deleted or replaced')
  await expect(store.remove(user.id)).rejects.toThrow(StoreFailure)
  expect(store.isGone?.()).toBe(true)
})

const setBack = (folder: string) => fs.utimesSync(folder, 1_700_000_000, 1_700_000_000)

function replaceAsRsync(file: string): void {
  fs.renameSync(`${file}.copy`, file)
  setBack(dirname(file))
}

function replaceFolder(folder: string): void {
  fs.renameSync(folder, `${folder}.old`)
  fs.cpSync(`${folder}.old`, folder, { recursive: true })
  fs.rmSync(`${folder}.old`, { recursive: true })
}

test('a database that was renamed has all users, and none of its log stays at the former name', async () => {
  const { place, file, store, user } = await written()
  fs.renameSync(file, `${file}.old`)
  await store.close()
  for (const end of ['', '-wal', '-shm']) fs.rmSync(`${file}${end}.copy`)
  expect(filesIn(place)).toEqual([
    'users.db-shm.replaced-N',
    'users.db-wal.replaced-N',
    'users.db.old',
  ])
  expect(await usersAt(place)).toEqual([])
  fs.renameSync(`${file}.old`, file)
  expect([await usersAt(place), faultsIn(place)]).toEqual([[user], []])
})

test('while the database is at its place, its log stays there', async () => {
  const { place, file, store, user } = await written()
  fs.renameSync(`${file}-shm.copy`, `${file}-shm`)
  await store.close()
  expect(filesIn(place)).toEqual([
    'users.db',
    'users.db-shm',
    'users.db-wal',
    'users.db-wal.copy',
    'users.db.copy',
  ])
  expect(await usersAt(place)).toEqual([user])
})

test('a database is not gone after writes, imports, a backup and the end of another program', async () => {
  const place = newPlace()
  const store = await open(place)
  const users = Array.from({ length: 2_000 }, () => newUser({ name: 'x'.repeat(5_000) }))
  await createIn(store, users)
  const other = await openStore(place)
  await other.create(newUser())
  await other.close()
  const copy = join(newPlace().DATA_DIR, 'copy')
  fs.writeFileSync(copy, '')
  await copySqlite(databaseIn(place.DATA_DIR), copy)
  await store.create(newUser())
  expect(store.isGone?.()).toBe(false)
})
