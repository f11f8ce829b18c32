// What only the MongoDB store does, and what it sends. (What every store does: ../user-store.test.ts.)
import { afterEach, expect, test } from '@jest/globals'
import { MongoClient, ObjectId } from 'mongodb'
import { openMongoStore } from '../../../src/store/mongo/store.ts'
import { EmailTaken, StoreFailure, type UserStore } from '../../../src/store/user-store.ts'
import { startProxy, type Command } from '../../support/mongodb-proxy.ts'
import { describeMongodb, mongodbPlace, useOwnStores, usersIn } from '../../support/stores.ts'
import { newUser, user } from '../../support/users.ts'

test('a URI that cannot be parsed is refused by the name of its setting', async () => {
  const opening = openMongoStore('mongodb:/x')
  await expect(opening).rejects.toThrow(StoreFailure)
  await expect(opening).rejects.toThrow(/^cannot use MONGODB_URI: /)
})

describeMongodb('MongoDB', () => {
  const { newPlace, open } = useOwnStores(mongodbPlace)

  /** A store, and its collection as other programs see it. */
  async function openBoth() {
    const place = newPlace()
    const store = await open(place)
    client = new MongoClient(place.mongodbUri!)
    return { store, users: client.db().collection('users') }
  }
  let client: MongoClient | undefined
  afterEach(() => client?.close())

  test('lists users in the order of their ids', async () => {
    const { store, users } = await openBoth()
    const ids = ['3', '1', '2'].map((end) => `665f1c2e8b3f4a0012d4c00${end}`)
    for (const id of ids) await users.insertOne({ _id: new ObjectId(id), name: 'x' })
    expect((await usersIn(store)).map(({ id }) => id)).toEqual(ids.toSorted())
  })

  test('reads an absent name or email as the empty text, and ignores other fields', async () => {
    const { store, users } = await openBoth()
    const cases = [newUser(), newUser({ email: '' }), newUser({ name: '' })]
    for (const fields of cases) {
      const present = Object.entries(fields).filter(([, value]) => value !== '')
      await users.insertOne({ age: 36, ...Object.fromEntries(present), namesake: 'Byron' })
    }
    const listed = await usersIn(store)
    expect(listed).toMatchObject(cases)
    for (const found of listed) {
      expect(Object.keys(found).sort()).toEqual(Object.keys(user()).sort())
      expect(await store.find(found.id)).toEqual(found)
      expect(await store.rename(found.id, `${found.name}!`, found.name)).toBe(true)
    }
  })

  test('sends at most 100 look-ups or inserts with one command, and counts them', async () => {
    const sizes: Record<string, number[]> = { create: [], find: [], findByEmail: [] }
    const store = await open(newPlace(), (operation, size) => void sizes[operation]!.push(size))
    const created = await Promise.all(newUsers(250).map((user) => store.create(user)))
    await Promise.all(created.map(({ id }) => store.find(id)))
    await Promise.all(created.map(({ email }) => store.findByEmail(email)))
    for (const counts of Object.values(sizes)) {
      expect(Math.max(...counts)).toBe(100)
      expect(counts.reduce((sum, size) => sum + size)).toBe(250)
    }
  })

  /** The commands that a store sends when it is opened and for `work`. */
  async function sent(options: Record<string, string>, work: (store: UserStore) => Promise<void>) {
    const proxy = await startProxy(newPlace().mongodbUri!, options)
    const store = await openMongoStore(proxy.uri)
    try {
      await work(store)
    } finally {
      await store.close()
      await proxy.close()
    }
    return proxy.commands()
  }

  const namesOf = (commands: Command[]) => commands.map(({ name }) => name)

  const newUsers = (length: number) => Array.from({ length }, () => newUser())

  test('gets a unique index on email that leaves out users without one', async () => {
    const index = { name: 'users_email_unique', key: { email: 1 }, unique: true, sparse: true }
    expect(await sent({}, async () => {})).toMatchObject([
      { name: 'createIndexes', indexes: [index] },
    ])
  })

  test('confirms a write when a majority has it in its journals, whatever the URI says', async () => {
    const [, ...writes] = await sent({ w: '0', journal: 'false' }, async (store) => {
      const { id, email } = await store.create(newUser())
      await Promise.all(newUsers(2).map((one) => store.create(one)))
      await store.createMany(newUsers(1), false)
      await store.rename(id, 'Grace')
      await expect(store.create(newUser({ email }))).rejects.toThrow(EmailTaken)
      await store.remove(id)
    })
    expect(namesOf(writes)).toEqual(['insert', 'insert', 'insert', 'update', 'insert', 'delete'])
    for (const write of writes) expect(write.writeConcern).toEqual({ w: 'majority', j: true })
  })

  test('reads from the primary, whatever the URI says', async () => {
    const [, ...reads] = await sent({ readPreference: 'secondary' }, async (store) => {
      await Promise.all(['a', 'b'].map((email) => store.findByEmail(email)))
      await store.isEmpty()
      await usersIn(store)
    })
    expect(namesOf(reads)).toEqual(['find', 'find', 'find'])
    for (const read of reads) expect(read.$readPreference?.mode ?? 'primary').toMatch(/^primary/)
  })

  const findsIn = (commands: Command[]) =>
    commands.flatMap(({ name, limit }) => (name === 'find' ? [limit] : []))

  /** The lengths of a list's pages. */
  async function pagesOf(store: UserStore): Promise<number[]> {
    const pages: number[] = []
    for await (const page of store.list()) pages.push(page.length)
    return pages
  }

  test('asks for growing pages of a list while users are short, and ends a short list without another query', async () => {
    const commands = await sent({}, async (store) => {
      await store.createMany(newUsers(300), false)
      expect(await pagesOf(store)).toEqual([1, 4, 16, 64, 215])
      expect(await pagesOf(store)).toEqual([300])
    })
    expect(findsIn(commands)).toEqual([1, 4, 16, 64, 256, expect.any(Number)])
  })

  test('reads what does not fit in a page again, and long users one at a time', async () => {
    const long = () => newUser({ name: 'x'.repeat(700_000) })
    const commands = await sent({}, async (store) => {
      await store.createMany([...newUsers(100), long(), long(), ...newUsers(5)], false)
      expect(await pagesOf(store)).toEqual([1, 4, 16, 64, 15, 1, 1, 1, 4])
    })
    expect(findsIn(commands)).toEqual([1, 4, 16, 64, 256, 1, 1, 1, 4, expect.any(Number)])
  })

  test('lists all users if a response has room for fewer than it should have', async () => {
    const store = await open()
    await store.createMany(newUsers(5), false)
    for (let i = 0; i < 3; i += 1) await store.create(newUser({ name: 'x'.repeat(9_000_000) }))
    await store.createMany(newUsers(5), false)
    expect(await pagesOf(store)).toEqual([1, 4, 1, 1, 1, 1, 4])
  })
})

// Waits for two seconds, meanwhile the other tests run.
test.concurrent('servers that cannot be reached are named, without the credentials', async () => {
  const opening = openMongoStore('mongodb://ada:secret@127.0.0.1:1,127.0.0.1:2/users')
  await expect(opening).rejects.toThrow(StoreFailure)
  const message = /^cannot use MongoDB at 127\.0\.0\.1:1,127\.0\.0\.1:2\/users: /
  await expect(opening).rejects.toThrow(message)
  await expect(opening).rejects.not.toThrow('secret')
})
