// The database of an open store is deleted, renamed or replaced by a copy.
import { expect, test } from '@jest/globals'
import fs from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { databaseIn, openStore } from '../../../src/store/open.ts'
import { StoreFailure } from '../../../src/chassis/index.ts'
import {
  createAt,
  faultsIn,
  sqlitePlace,
  useOwnStores,
  usersAt,
  type Place,
} from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

const { newPlace, open } = useOwnStores(sqlitePlace)

const filesIn = ({ DATA_DIR }: Place) =>
  fs.readdirSync(DATA_DIR).map((name) => name.replace(/\d+$/, 'N'))

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
  ['the database was replaced, and the time of its folder set back', replaceAsRsync],
  ['its folder was replaced', (file) => replaceFolder(dirname(file))],
  ['its log was deleted', (file) => fs.rmSync(`${file}-wal`)],
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

test('a database is not gone after writes, and the end of another program that used it', async () => {
  const place = newPlace()
  const store = await open(place)
  const other = await openStore(place)
  await other.create(newUser())
  await other.close()
  await store.create(newUser())
  expect(store.isGone?.()).toBe(false)
})

test('a database that was renamed has all users, and none of its log stays at the former name', async () => {
  const { place, file, store, user } = await written()
  fs.renameSync(file, `${file}.old`)
  await store.close()
  for (const end of ['', '-wal', '-shm']) fs.rmSync(`${file}${end}.copy`)
  const left = ['users.db-shm.replaced-N', 'users.db-wal.replaced-N', 'users.db.old']
  expect(filesIn(place)).toEqual(left)
  expect(await usersAt(place)).toEqual([])
  fs.renameSync(`${file}.old`, file)
  expect([await usersAt(place), faultsIn(place)]).toEqual([[user], []])
})

test('while the database is at its place, its log stays there', async () => {
  const { place, file, store, user } = await written()
  fs.renameSync(`${file}-shm.copy`, `${file}-shm`)
  await store.close()
  const left = ['', '-shm', '-wal', '-wal.copy', '.copy'].map((end) => `users.db${end}`)
  expect(filesIn(place)).toEqual(left)
  expect(await usersAt(place)).toEqual([user])
})

test('a copy that is moved over the database has all its users after a restart, and none of the former log', async () => {
  const { place, file, store, user } = await written()
  const copied = newPlace()
  const users = await createAt(copied, newUser(), newUser())
  fs.renameSync(databaseIn(copied.DATA_DIR), file)
  await expect(store.remove(user.id)).rejects.toThrow(StoreFailure)
  expect([await usersAt(place), faultsIn(place)]).toEqual([users, []])
})
