// Reads that share a transaction: what they see, and when the transaction ends.
import { expect, test } from '@jest/globals'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { databaseIn } from '../../../src/store/open.ts'
import { StoreFailure } from '../../../src/store/user-store.ts'
import { databaseOf, sqlitePlace, useOwnStores, type Place } from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

const { newPlace, open } = useOwnStores(sqlitePlace)

const logSize = ({ dataDir }: Place) => statSync(`${databaseIn(dataDir)}-wal`).size

test('reads of one task see the same state, and those of the next task the new one', async () => {
  const place = newPlace()
  const store = await open(place)
  const { id, email } = await store.create(newUser())
  const other = databaseOf(place)
  const rename = other.prepare('UPDATE users SET name = ?')
  const tasks = ['a', 'b', 'c'].map((name) => async () => {
    const reads = [store.find(id), store.findByEmail(email)]
    rename.run(name)
    return (await Promise.all([...reads, store.find(id)])).map((user) => user?.name)
  })
  for (const task of tasks) {
    const [first, ...others] = await task()
    expect(others).toEqual([first, first])
  }
  expect(await store.find(id)).toMatchObject({ name: 'c' })
  other.close()
})

test('a single read needs no transaction', async () => {
  const place = newPlace()
  const store = await open(place)
  const { id } = await store.create(newUser())
  const other = databaseOf(place)
  const read = store.find(id)
  other.exec('PRAGMA wal_checkpoint(TRUNCATE)') // does nothing while a transaction reads the log
  expect(logSize(place)).toBe(0)
  expect(await read).toMatchObject({ id })
  other.close()
})

test('the transaction of reads ends before a write', async () => {
  const place = newPlace()
  const store = await open(place)
  const { id } = await store.create(newUser())
  const twice = () => [store.find(id), store.find(id)]
  const many = [...twice(), store.createMany([newUser()], false)]
  expect(await Promise.all(many)).toMatchObject([{ id }, { id }, ['created']])

  const other = databaseOf(place)
  other.exec('BEGIN IMMEDIATE')
  const first = store.rename(id, 'a').then(() => Promise.all(twice()))
  await sleep(6)
  const second = store.rename(id, 'b') // begins when the first has ended, in the same task as the reads
  await sleep(1)
  other.exec('COMMIT')
  expect(await first).toMatchObject([{ id }, { id }])
  expect(await second).toBe(true)
  other.close()
})

test('the transaction of reads ends before the store closes', async () => {
  const place = newPlace()
  const store = await open(place)
  const { id } = await store.create(newUser())
  const twice = () => Promise.allSettled([store.find(id), store.find(id)])
  void twice()
  const closing = store.close()
  for (let i = 0; i < 10; i += 1) {
    await Promise.resolve()
    void twice()
  }
  await closing
  expect(logSize(place)).toBe(0)
  const other = databaseOf(place)
  other.exec("UPDATE users SET name = 'x'; PRAGMA wal_checkpoint(TRUNCATE)")
  expect(logSize(place)).toBe(0) // nothing reads the log any more
  other.close()
})

test('reads of a closed store fail, and nothing else does', async () => {
  const store = await open(newPlace())
  await store.close()
  const reads = ['a', 'b'].map(() => store.find('x'))
  const outcomes = await Promise.allSettled(reads)
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ reason: expect.any(StoreFailure) })
})

test('a damaged page fails the reads of its users only, and neither a write nor the close', async () => {
  const place = newPlace()
  const file = databaseIn(place.dataDir)
  const before = await open(place)
  const users = Array.from({ length: 100 }, (_, i) =>
    newUser({ name: `number ${i} `.padEnd(1_000, 'x') }),
  )
  await before.createMany(users, false)
  const all = await Promise.all(users.map(({ email }) => before.findByEmail(email)))
  await before.close()
  const bytes = readFileSync(file)
  const page = Math.floor(bytes.indexOf('number 50 ') / 4096)
  bytes.fill(0xff, page * 4096, page * 4096 + 8)
  writeFileSync(file, bytes)

  const store = await open(place)
  const find = (i: number) => store.find(all[i]!.id)
  const outcomes = await Promise.allSettled([
    ...[50, 1, 50, 2].map(find),
    store.createMany([newUser()], false),
    store.close(),
  ])
  const failed = { status: 'rejected', reason: expect.any(StoreFailure) }
  const done = { status: 'fulfilled' }
  expect(outcomes).toMatchObject([failed, done, failed, done, done, done])
})
