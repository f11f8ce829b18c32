// What is left of a user who was deleted, in the database, its log and a new backup.
import { expect, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { databaseIn } from '../../../src/store/open.ts'
import type { User, UserStore } from '../../../src/store/user-store.ts'
import { started } from '../../support/program.ts'
import { send } from '../../support/service.ts'
import {
  createIn,
  databaseOf,
  SECRET,
  sqlitePlace,
  useOwnStores,
  usersIn,
} from '../../support/stores.ts'
import { useScripts } from '../../support/scripts.ts'
import { newUser } from '../../support/users.ts'

const { folder, at, done } = useScripts()
const { newPlace, open } = useOwnStores(sqlitePlace)

/** A user whose name and email are in no other file. */
const unique = (length = 0) =>
  newUser({
    name: `${randomUUID()} ${'long '.repeat(length / 5)}`,
    email: `${randomUUID()}${'x'.repeat(length)}@example.com`,
  })
const OVERFLOWS = 20_000 // more than a page of SQLite

const bytesIn = (folder: string) =>
  readdirSync(folder).map((name) => readFileSync(join(folder, name)))

/** Those of the texts whose beginning is in a file of one of the folders. */
const remainsOf = (texts: string[], ...folders: string[]) =>
  texts.filter((text) =>
    folders.flatMap(bytesIn).some((bytes) => bytes.includes(text.slice(0, 36))),
  )

const textsOf = (users: User[]) => users.flatMap(({ id, name, email }) => [id, name, email])

const create = (store: UserStore, ...users: Omit<User, 'id'>[]) =>
  Promise.all(users.map((user) => store.create(user)))

test.each([
  ['short', 0],
  ['long', OVERFLOWS],
])(
  'of a user with a %s name, a former name and a refused one, nothing is left when the service has stopped',
  async (_, length) => {
    const place = at(sqlitePlace)
    const service = await started(place, { SIGNING_SECRET: SECRET })
    const port = Number(new URL(service.url()).port)
    const [first, second, refused, other] = [0, 1, 2, 3].map(() => unique(length))
    await send(port, 'POST /users', { json: other })
    const { json } = await send(port, 'POST /users', { json: first })
    const { status } = await send(port, 'POST /users', {
      json: { ...refused, email: first!.email },
    })
    await send(port, `PUT /users/${json.id}`, { json: { name: second!.name } })
    const texts = [json.id, first!.name, first!.email, second!.name, refused!.name] as string[]
    const backup = async (name: string) => done('backup', place, [join(folder(), name)])

    await backup('before.db')
    expect(remainsOf([second!.name], folder())).toEqual([second!.name])
    expect((await send(port, `DELETE /users/${json.id}`)).status).toBe(204)
    expect(await backup('after.db')).toMatchObject({ code: 0 })
    const copy = readFileSync(join(folder(), 'after.db'))
    expect(texts.filter((text) => copy.includes(text.slice(0, 36)))).toEqual([])

    service.process.kill('SIGTERM')
    expect([status, await service.ended]).toEqual([400, 0])
    expect(remainsOf([...texts, other!.name], place.DATA_DIR)).toEqual([other!.name])
  },
)

test('deleted and former text is overwritten, also after an import, and the stop does not rewrite the database', async () => {
  const place = newPlace()
  const store = await open(place)
  const [other] = await create(store, unique())
  const long = Array.from({ length: 3 }, () => unique(1_000_000))
  await createIn(store, long) // with settings of its own
  const users = (await usersIn(store)).filter(({ id }) => id !== other!.id)
  await store.rename(users[0]!.id, 'short')
  await store.remove(users[1]!.id)
  const { size } = statSync(databaseIn(place.DATA_DIR))
  await store.close()
  expect(statSync(`${databaseIn(place.DATA_DIR)}-wal`).size).toBe(0)
  expect(statSync(databaseIn(place.DATA_DIR)).size).toBeGreaterThanOrEqual(size)
  const gone = [users[0]!.name, ...textsOf([users[1]!])]
  expect(remainsOf([...gone, other!.name], place.DATA_DIR)).toEqual([other!.name])
})

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
