// What is left of a user who was deleted, in the database and its log. (In a new backup: scripts/users/backup.long.ts.)
import { expect, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { databaseIn } from '../../../src/store/open.ts'
import { EmailTaken, type User, type UserStore } from '../../../src/store/user-store.ts'
import { databaseOf, sqlitePlace, useOwnStores } from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

const { newPlace, open } = useOwnStores(sqlitePlace)

/** A user whose name and email are in no other file. */
const unique = (length = 0) =>
  newUser({
    name: `${randomUUID()} ${'long '.repeat(length / 5)}`,
    email: `${randomUUID()}${'x'.repeat(length)}@example.com`,
  })
const OVERFLOWS = 20_000 // more than a page of SQLite

/** Those of the texts whose beginning is in a file of the folder. */
const remainsOf = (texts: string[], folder: string) =>
  texts.filter((text) =>
    readdirSync(folder).some((name) =>
      readFileSync(join(folder, name)).includes(text.slice(0, 36)),
    ),
  )

const textsOf = (users: User[]) => users.flatMap(({ id, name, email }) => [id, name, email])

const create = (store: UserStore, ...users: Omit<User, 'id'>[]) =>
  Promise.all(users.map((user) => store.create(user)))

// SECURITY.md: A deleted user is overwritten,
test('deleted, former and refused text is overwritten, and the stop does not rewrite the database', async () => {
  const place = newPlace()
  const store = await open(place)
  const several = () => [0, OVERFLOWS, 1_000_000].map((length) => unique(length))
  const renamed = await create(store, ...several())
  const removed = await create(store, ...several())
  const [kept, ...others] = await create(store, ...several())
  for (const { id } of renamed) await store.rename(id, { name: 'short' })
  for (const { id } of removed) await store.remove(id)
  const refused = several().map((one) => ({ ...one, email: kept!.email }))
  for (const one of refused) await expect(store.create(one)).rejects.toThrow(EmailTaken)
  const { size } = statSync(databaseIn(place.DATA_DIR))
  await store.close()
  expect(statSync(`${databaseIn(place.DATA_DIR)}-wal`).size).toBe(0)
  expect(statSync(databaseIn(place.DATA_DIR)).size).toBeGreaterThanOrEqual(size)
  const gone = [...textsOf(removed), ...[...renamed, ...refused].map(({ name }) => name)]
  const left = textsOf([kept!, ...others])
  expect(remainsOf([...gone, ...left], place.DATA_DIR)).toEqual(left)
})

// SECURITY.md: A deleted user is overwritten,
test('the log of a service that runs keeps nothing for longer than 8 MB of further writes', async () => {
  const place = newPlace()
  const store = await open(place)
  const reader = databaseOf(place)
  reader.exec('BEGIN; SELECT * FROM users') // SQLite cannot begin the log again: it grows
  const users = await create(store, ...Array.from({ length: 5 }, () => unique(1_000_000)))
  await store.remove(users[4]!.id)
  reader.close()
  expect(remainsOf(textsOf(users.slice(4)), place.DATA_DIR)).not.toEqual([])
  for (let i = 0; i < 8; i += 1) await create(store, unique(500_000))
  expect(statSync(`${databaseIn(place.DATA_DIR)}-wal`).size).toBeLessThan(6_000_000)
  expect(remainsOf(textsOf(users.slice(4)), place.DATA_DIR)).toEqual([])
})
