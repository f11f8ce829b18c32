// What only the MongoDB store does, and what it sends. (What every store does: ../user-store.test.ts.)
import { expect, test } from '@jest/globals'
import { setImmediate as turn } from 'node:timers/promises'
import { BSON, ObjectId } from 'mongodb'
import { changer, type Write } from '../../../src/store/mongo/changes.ts'
import { openConnection, type Execute } from '../../../src/store/mongo/connection.ts'
import { toObjectId } from '../../../src/store/mongo/documents.ts'
import { insertEach } from '../../../src/store/mongo/inserts.ts'
import { findFields, lister } from '../../../src/store/mongo/lists.ts'
import { openMongoStore } from '../../../src/store/mongo/store.ts'
import { pagesOf } from '../../../src/store/pages.ts'
import { createdAt } from '../../../src/store/user-id.ts'
import { EmailTaken, type UserStore } from '../../../src/store/user-store.ts'
import { startProxy, type Command } from '../../support/mongodb-proxy.ts'
import {
  createIn,
  describeMongodb,
  mongodbPlace,
  useOwnStores,
  usersIn,
} from '../../support/stores.ts'
import { newUser, user } from '../../support/users.ts'

test.each([
  ['mongodb://h', 1],
  ['mongodb://u:p@h,i:1/?authSource=/admin', 1],
  ['mongodb://h?tlsCAFile=/ca', 1],
  ['mongodb://h/test?authSource=admin', 0],
])('opening %s warns %i times that it names no database', async (uri, times) => {
  const said: string[] = []
  const warn = (text: string) => void said.push(text)
  await (await openMongoStore(uri, { warn, allowUnreachable: true })).close()
  expect(said).toHaveLength(times)
})

test('at most 64 writes are sent at a time, and the next as soon as one is done', async () => {
  const ends: (() => void)[] = []
  const execute = (() =>
    new Promise((resolve) => ends.push(() => resolve(true)))) as unknown as Execute
  const change = changer(execute, async () => undefined)
  const write: Write = async () => true
  const changes = Array.from({ length: 100 }, () => change({ id: user().id, write }))
  for (let i = 0; i < 10; i += 1) await turn()
  expect(ends).toHaveLength(64)
  for (let i = 0; i < 100; i += 1) {
    while (!ends[i]) await turn()
    ends[i]!()
  }
  expect(await Promise.all(changes)).toEqual(Array(100).fill('done'))
})

test('a list goes on after a response of 8 MB, which MongoDB may have cut', async () => {
  const lengths = [7_900_000, 8_000_000]
  const pages = lengths.map((length) => {
    const document = BSON.serialize({ _id: new ObjectId(), name: 'x'.repeat(length) })
    return lister((async () => [Buffer.from(document)]) as unknown as Execute)({})
  })
  expect((await Promise.all(pages)).map(({ isLast }) => isLast)).toEqual([true, false])
})

describeMongodb('MongoDB', () => {
  const { newPlace } = useOwnStores(mongodbPlace)

  test('sends at most 100 look-ups or inserts with one command', async () => {
    const commands = await sent({}, async (store) => {
      const created = await Promise.all(newUsers(250).map((user) => store.create(user)))
      await Promise.all(created.map(({ id }) => store.find(id)))
      await Promise.all(created.map(({ email }) => store.findByEmail(email)))
    })
    const ids = commands.flatMap(({ filter }) => filter?._id?.$in?.length ?? [])
    const emails = commands.flatMap(({ filter }) => filter?.email?.$in?.length ?? [])
    expect(namesOf(commands).filter((name) => name === 'insert')).toHaveLength(3)
    for (const sizes of [ids, emails]) {
      expect(Math.max(...sizes)).toBe(100)
      expect(sizes.reduce((sum: number, size: number) => sum + size)).toBe(250)
    }
  })

  /** The commands that a store sends for `work`, after it was opened. */
  async function sent(options: Record<string, string>, work: (store: UserStore) => Promise<void>) {
    const proxy = await startProxy(newPlace().MONGODB_URI!, options)
    const store = await openMongoStore(proxy.uri)
    const { length: opening } = proxy.commands()
    try {
      await work(store)
    } finally {
      await store.close()
      await proxy.close()
    }
    return proxy.commands().slice(opening)
  }

  const namesOf = (commands: Command[]) => commands.map(({ name }) => name)

  const newUsers = (length: number) => Array.from({ length }, () => newUser())

  // SECURITY.md: An acknowledged write is durable.
  test.each<Record<string, string>>([
    { w: '0', journal: 'false' },
    { w: '1', j: 'false' },
    { fsync: 'false', writeConcern: 'majority' },
  ])(
    'confirms a write when a majority has it in its journals, despite %j in the URI',
    async (options) => {
      const writes = await sent(options, async (store) => {
        const { id, email } = await store.create(newUser())
        await Promise.all(newUsers(2).map((one) => store.create(one)))
        await store.rename(id, { name: 'Grace' })
        await expect(store.create(newUser({ email }))).rejects.toThrow(EmailTaken)
        await store.remove(id)
      })
      const isWrite = ({ name }: Command) => /insert|update|delete/.test(name)
      const names = ['insert', 'insert', 'update', 'insert', 'delete']
      expect(namesOf(writes.filter(isWrite))).toEqual(names)
      for (const write of writes.filter(isWrite))
        expect(write.writeConcern).toEqual({ w: 'majority', j: true })
    },
  )

  test('reads from the primary, whatever the URI says', async () => {
    const reads = await sent({ readPreference: 'secondary' }, async (store) => {
      await Promise.all(['a', 'b'].map((email) => store.findByEmail(email)))
      await store.oldest()
      await usersIn(store)
    })
    expect(namesOf(reads)).toEqual(['find', 'find', 'find'])
    for (const read of reads) expect(read.$readPreference?.mode ?? 'primary').toMatch(/^primary/)
  })

  test('reads what it wrote, whatever the URI says of how replies are read', async () => {
    const options = {
      raw: 'true',
      promoteValues: 'false',
      promoteLongs: 'false',
      bsonRegExp: 'true',
    }
    await sent({ ...options, promoteBuffers: 'true' }, async (store) => {
      const user = await store.create(newUser())
      await expect(store.create(newUser({ email: user.email }))).rejects.toThrow(EmailTaken)
      expect(await store.rename(user.id, { name: 'x' }, () => true)).toBe('done')
      expect(await usersIn(store)).toEqual([{ ...user, name: 'x' }])
      expect(await store.oldest()).toEqual(createdAt(user.id))
      expect(await store.remove(user.id)).toBe('done')
      expect(await store.remove(user.id)).toBe('not found')
    })
  })

  test.each([
    [1, 'done'],
    [2, 'refused'],
  ])(
    'if others change a user %i times between the check and the write, a conditional write is %s',
    async (times, expected) => {
      const { execute, close } = openConnection(newPlace().MONGODB_URI!, false)
      const rename =
        (name: string): Write =>
        async (users, filter) =>
          (await users.updateOne(filter, { $set: { name } })).matchedCount > 0
      let changes = 0
      const find = async (id: string) => {
        const found = await execute((users) => findFields(users, 'id', [id]))
        const change = rename(`other ${changes}`)
        if (changes++ < times) await execute((users) => change(users, { _id: toObjectId(id) }))
        return found.get(id)
      }
      const { id } = user()
      await execute((users) => insertEach(users, [user({ id })]))
      const change = changer(execute, find)
      expect(await change({ id, write: rename('mine'), condition: () => true })).toBe(expected)
      await close()
    },
  )

  /** The lengths of a list's pages. */
  async function pageLengths(store: UserStore): Promise<number[]> {
    const pages: number[] = []
    for await (const page of pagesOf(store)) pages.push(page.length)
    return pages
  }

  const long = () => newUser({ name: 'x'.repeat(700_000) })

  test('the pages of a list grow, and are read again from where a user does not fit', async () => {
    const users = [...newUsers(100), long(), long(), ...newUsers(5)]
    const commands = await sent({}, async (store) => {
      await createIn(store, users)
      expect(await pageLengths(store)).toEqual([1, 4, 16, 64, 15, 1, 1, 1, 4])
    })
    const limits = commands.flatMap(({ limit }) => limit ?? [])
    expect(limits).toEqual([2, 5, 17, 65, 257, 2, 2, 2, 5])
  })

  test('a page has as many users as the limit, and takes one query once it is known how long users are', async () => {
    const commands = await sent({}, async (store) => {
      await createIn(store, [...newUsers(300), long(), ...newUsers(5)])
      for (const limit of [50, 50, 10, 200, 300]) {
        const { users, isLast } = await store.list({ limit })
        expect([users.length, isLast]).toEqual([limit, false])
      }
    })
    const limits = commands.flatMap(({ limit }) => limit ?? [])
    expect(limits).toEqual([2, 5, 17, 51, 51, 11, 201, 301])
  })

  test('a list ends without another query, because each asks for one user more than the page has', async () => {
    const commands = await sent({}, async (store) => {
      await store.create(newUser())
      await store.list({ limit: 10 })
      await pageLengths(store)
    })
    expect(namesOf(commands)).toEqual(['insert', 'find', 'find'])
  })
})
