// What only the MongoDB store does, and what it sends. (What every store does: ../user-store.test.ts.)
import { expect, test } from '@jest/globals'
import { setImmediate as turn } from 'node:timers/promises'
import { BSON, ObjectId } from 'mongodb'
import { changer, type Write } from '../../../src/store/mongo/changes.ts'
import type { Execute } from '../../../src/store/mongo/connection.ts'
import { fieldsOf } from '../../../src/store/mongo/documents.ts'
import { lister } from '../../../src/store/mongo/lists.ts'
import { openMongoStore } from '../../../src/store/mongo/store.ts'
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

// SECURITY.md: Writes (MongoDB)
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

test.each([
  [1, 'done'],
  [2, 'refused'],
])(
  'if others change a user %i times between the check and the write, a conditional write is %s',
  async (times, expected) => {
    const id = new ObjectId()
    const fields = fieldsOf(Buffer.from(BSON.serialize({ _id: id })))
    let writes = 0
    const execute = (async () => (writes += 1) > times) as unknown as Execute
    const change = changer(execute, async () => fields)
    const write: Write = async () => true
    const condition = () => true
    expect(await change({ id: id.toHexString(), write, condition })).toBe(expected)
  },
)

test('a list goes on after a response of 8 MB, which MongoDB may have cut', async () => {
  const lengths = [7_900_000, 8_000_000]
  const pages = lengths.map((length) => {
    const document = BSON.serialize({ _id: new ObjectId(), name: 'x'.repeat(length) })
    return lister((async () => [Buffer.from(document)]) as unknown as Execute)({})
  })
  expect((await Promise.all(pages)).map(({ next }) => !next)).toEqual([true, false])
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
    const store = openMongoStore(proxy.uri)
    await store.oldest() // connects
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
    const [yes, no] = ['true', 'false']
    const promote = { promoteValues: no, promoteLongs: no, promoteBuffers: yes }
    await sent({ raw: yes, bsonRegExp: yes, ...promote }, async (store) => {
      const user = await store.create(newUser())
      await expect(store.create(newUser({ email: user.email }))).rejects.toThrow(EmailTaken)
      expect(await store.rename(user.id, { name: 'x' }, () => true)).toBe('done')
      expect(await usersIn(store)).toEqual([{ ...user, name: 'x' }])
      expect(await store.oldest()).toEqual(createdAt(user.id))
      expect(await store.remove(user.id)).toBe('done')
      expect(await store.remove(user.id)).toBe('not found')
    })
  })

  const long = () => newUser({ name: 'x'.repeat(700_000) })

  test('a page has as many users as the limit, and takes one query once it is known how long users are', async () => {
    const commands = await sent({}, async (store) => {
      await createIn(store, [...newUsers(300), long(), ...newUsers(5)])
      for (const limit of [50, 50, 10, 200, 300]) {
        const { users, next } = await store.list({ limit })
        expect([users.length, next]).toEqual([limit, users.at(-1)!.id])
      }
    })
    const limits = commands.flatMap(({ limit }) => limit ?? [])
    expect(limits).toEqual([2, 5, 17, 51, 51, 11, 201, 301])
  })
})
