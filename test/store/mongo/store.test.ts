// What only the MongoDB store does, and what it sends. (What every store does: ../user-store.test.ts.)
import { afterEach, expect, test } from '@jest/globals'
import { BSON, MongoClient, ObjectId, type Document } from 'mongodb'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCursor } from '../../../src/store/mongo/cursor.ts'
import { openMongoStore } from '../../../src/store/mongo/store.ts'
import {
  EmailTaken,
  StoreFailure,
  type User,
  type UserStore,
} from '../../../src/store/user-store.ts'
import { describeMongodb, mongodbPlace, useOwnStores, usersIn } from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

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
    const cases = [
      [
        { age: 36, email: 'a@x', tags: ['x'], name: 'Ada' },
        { name: 'Ada', email: 'a@x' },
      ],
      [
        { name: 'Ada', namesake: 'Byron' },
        { name: 'Ada', email: '' },
      ],
      [
        { email: 'b@x', age: 36 },
        { name: '', email: 'b@x' },
      ],
    ] as const
    const id = expect.stringMatching(/^[0-9a-f]{24}$/)
    for (const [document] of cases) await users.insertOne({ ...document })
    const listed = await usersIn(store)
    expect(listed).toEqual(cases.map(([, user]) => ({ id, ...user })))
    for (const user of listed) {
      expect(await store.find(user.id)).toEqual(user)
      expect(await store.rename(user.id, `${user.name}!`, user.name)).toBe(true)
    }
  })

  test('counts calls that travel together: at most 100, and a long user alone', async () => {
    const sizes: number[] = []
    const store = await open(newPlace(), (_, size) => void sizes.push(size))
    const made = await Promise.all(Array.from({ length: 250 }, () => store.create(newUser())))
    await Promise.all(made.map(({ id }) => store.find(id)))
    expect(sizes).toEqual([100, 100, 50, 100, 100, 50])
    sizes.length = 0
    const long = 'long '.repeat(2_001)
    const users = [newUser({ name: long }), newUser(), newUser({ email: long }), newUser()]
    await Promise.all(users.map((user) => store.create(user)))
    expect(sizes).toEqual([1, 1, 2])
    sizes.length = 0
    await Promise.all(users.map(({ email }) => store.findByEmail(email)))
    expect(sizes.toSorted()).toEqual([1, 1, 3]) // only the look-up shows that a name is long
    sizes.length = 0
    await Promise.all(users.map(({ email }) => store.findByEmail(email)))
    expect(sizes.toSorted()).toEqual([1, 1, 2])
  })

  test('looks up an email of more than 500 characters alone, so that only short ones are remembered', async () => {
    const sizes: number[] = []
    const store = await open(newPlace(), (_, size) => void sizes.push(size))
    const emails = [500, 501, 502, 499].map((length) => 'x'.repeat(length))
    await Promise.all(emails.map((email) => store.findByEmail(email)))
    expect(sizes.toSorted()).toEqual([1, 1, 2])
  })

  interface Command extends Document {
    name: string
  }

  /** How many users each page may have. */
  const sizesOf = (commands: Command[]) =>
    commands.flatMap(({ name, batchSize }) => (/^(find|getMore)$/.test(name) ? [batchSize] : []))

  /** The commands in the bytes of a client: OP_MSG, whose first section has the command. */
  function* commandsIn(bytes: Buffer): Generator<Command> {
    for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at)) {
      if (bytes.readInt32LE(at + 12) !== 2013) continue
      const start = at + 16 + 4 + 1
      const command = BSON.deserialize(bytes.subarray(start, start + bytes.readInt32LE(start)), {
        promoteLongs: false,
      })
      yield { ...command, name: Object.keys(command)[0]! }
    }
  }

  /** The commands that a store sends when it is opened and for `work`, without those of a connection. */
  async function sent(
    work: (store: UserStore, commandsSoFar: () => Command[]) => Promise<unknown>,
    options = '',
  ): Promise<Command[]> {
    const { hostname, port, pathname, search } = new URL(newPlace().mongodbUri!)
    const connections: Buffer[][] = []
    const proxy = net.createServer((inward) => {
      const chunks: Buffer[] = []
      connections.push(chunks)
      const outward = net.connect(Number(port) || 27_017, hostname)
      inward.on('data', (chunk) => void chunks.push(chunk))
      inward.on('error', () => {}).on('close', () => outward.destroy())
      outward.on('error', () => {}).on('close', () => inward.destroy())
      inward.pipe(outward).pipe(inward)
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    const host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const store = await openMongoStore(`mongodb://${host}${pathname}${search}${options}`)
    expect(store.description).toBe(`MongoDB at ${host}${pathname}`)
    const commands = () =>
      connections
        .flatMap((chunks) => [...commandsIn(Buffer.concat(chunks))])
        .filter(({ name }) => !/^(hello|ismaster)$/i.test(name))
    try {
      await work(store, commands)
      return commands()
    } finally {
      await store.close()
      proxy.close()
    }
  }

  const namesOf = (commands: Command[]) => commands.map(({ name }) => name)

  /** Those after `createIndexes` and the `insert` of the users. */
  const readsIn = (commands: Command[]) => namesOf(commands).slice(2)

  const newUsers = (length: number) => Array.from({ length }, () => newUser())

  test('gets a unique index on email that leaves out users without one', async () => {
    expect(await sent(async () => {})).toMatchObject([
      {
        name: 'createIndexes',
        indexes: [{ name: 'users_email_unique', key: { email: 1 }, unique: true, sparse: true }],
      },
    ])
  })

  test('confirms a write when a majority has it in its journals, whatever the URI says', async () => {
    const commands = await sent(async (store) => {
      const { id, email } = await store.create(newUser())
      await Promise.all([newUser(), newUser()].map((user) => store.create(user)))
      await store.createMany([newUser()], false)
      await store.rename(id, 'Grace')
      await expect(store.create(newUser({ email }))).rejects.toThrow(EmailTaken)
      await store.remove(id)
    }, '&w=0&journal=false')
    const writes = commands.slice(1)
    expect(namesOf(writes)).toEqual(['insert', 'insert', 'insert', 'update', 'insert', 'delete'])
    for (const write of writes) expect(write.writeConcern).toEqual({ w: 'majority', j: true })
  })

  test('reads from the primary, whatever the URI says', async () => {
    const commands = await sent(async (store) => {
      await Promise.all(['a', 'b'].map((email) => store.findByEmail(email)))
      await store.isEmpty()
      await usersIn(store)
    }, '&readPreference=secondary')
    const reads = commands.slice(1)
    expect(namesOf(reads)).toEqual(['find', 'find', 'find'])
    for (const read of reads) {
      expect(read.$readPreference?.mode ?? 'primary').toMatch(/^primary/)
    }
  })

  test('fetches long users of a list one at a time, and short ones in growing pages', async () => {
    const store = await open()
    const long = () => newUser({ name: 'x'.repeat(700_000) })
    await store.createMany(Array.from({ length: 5 }, long), false)
    const pages = []
    for await (const page of store.list()) pages.push(page.length)
    expect(pages).toEqual([1, 1, 1, 1, 1])

    const commands = await sent(async (store) => {
      await store.createMany(newUsers(900), false)
      await usersIn(store)
      await usersIn(store)
    })
    expect(sizesOf(commands)).toEqual([1, 4, 16, 64, 256, 1_000, 1_000])
  })

  test('reads long users that follow short ones again, one at a time, because one response could have 16 MB', async () => {
    const commands = await sent(async (store) => {
      const short = newUsers(100)
      const long = Array.from({ length: 3 }, () => newUser({ name: 'x'.repeat(700_000) }))
      await store.createMany([...short, ...long], false)
      const pages = []
      for await (const page of store.list()) pages.push(page.length)
      expect(pages).toEqual([1, 4, 16, 64, 15, 1, 1, 1])
    })
    expect(sizesOf(commands).slice(4)).toEqual([256, 1, 1, 1, 1])
  })

  test('reads all pages of a list from one cursor, and ends a short list without another query', async () => {
    const commands = await sent(async (store) => {
      await store.createMany(newUsers(3), false)
      await usersIn(store)
      await usersIn(store)
    })
    expect(readsIn(commands)).toEqual(['find', 'getMore', 'find'])
  })

  test('kills the cursor of a list that is left', async () => {
    const commands = await sent(async (store, commandsSoFar) => {
      await store.createMany(newUsers(3), false)
      for await (const _ of store.list()) break
      while (!namesOf(commandsSoFar()).includes('killCursors')) await sleep(5)
    })
    expect(readsIn(commands)).toEqual(['find', 'killCursors'])
  })

  test('goes on with a list whose cursor the server has lost, and makes no other cursor', async () => {
    const commands = await sent(async (store, commandsSoFar) => {
      const newcomers = newUsers(30)
      await store.createMany(newcomers, false)
      const listed: User[] = []
      for await (const page of store.list()) {
        listed.push(...page)
        const { getMore, $db } = commandsSoFar().at(-1)!
        if (listed.length === 5) await kill($db, getMore)
      }
      expect(listed.map(({ email }) => email)).toEqual(newcomers.map(({ email }) => email))
      await usersIn(store)
    })
    const asked = namesOf(commands).filter((name) => /^(find|getMore)$/.test(name))
    expect(asked).toEqual(['find', 'getMore', 'getMore', 'find', 'find', 'find'])
    const finds = commands.filter(({ name }) => name === 'find')
    expect(finds.map(({ limit, batchSize }) => limit === batchSize)).toEqual([
      false,
      true,
      true,
      true,
    ])
  })

  test('a lost cursor fails no other list', async () => {
    await sent(async (store, commandsSoFar) => {
      await store.createMany(newUsers(30), false)
      const pages = store.list()[Symbol.asyncIterator]()
      await pages.next()
      await pages.next()
      const { getMore, $db } = commandsSoFar().at(-1)!
      await kill($db, getMore)
      const others = Array.from({ length: 6 }, () => usersIn(store))
      expect((await pages.next()).value).toHaveLength(16)
      for (const users of await Promise.all(others)) expect(users).toHaveLength(30)
    })
  })

  test.each(['with', 'without'])(
    'a list has all users if a response has room for fewer than it should have, %s cursors',
    async (cursors) => {
      await sent(async (store, commandsSoFar) => {
        await store.createMany(newUsers(5), false)
        for (let i = 0; i < 3; i += 1) await store.create(newUser({ name: 'x'.repeat(9_000_000) }))
        await store.createMany(newUsers(5), false)
        const lengths: number[] = []
        for await (const page of store.list()) {
          lengths.push(page.length)
          const { getMore, $db } = commandsSoFar().at(-1)!
          if (lengths.length === 2 && cursors === 'without') await kill($db, getMore)
        }
        expect(lengths).toEqual([1, 4, 1, 1, 1, 1, 4])
        expect(await usersIn(store)).toHaveLength(13)
      })
    },
  )

  test('each list gives back its session', async () => {
    const commands = await sent(async (store) => {
      await store.createMany(newUsers(3), false)
      for (let i = 0; i < 3; i += 1) await usersIn(store)
    })
    const sessions = commands.flatMap(({ name, lsid }) =>
      name === 'find' ? [lsid.id.toString()] : [],
    )
    expect(sessions).toHaveLength(3)
    expect(new Set(sessions).size).toBe(1)
  })

  test('a cursor that is closed before the server responds is killed', async () => {
    const place = newPlace()
    await (await open(place)).createMany(newUsers(3), false)
    const monitored = new MongoClient(place.mongodbUri!, { monitorCommands: true })
    const names: string[] = []
    const cursor = createCursor(monitored, {})
    monitored.on('commandStarted', ({ commandName }) => {
      names.push(commandName)
      if (commandName === 'find') cursor.close()
    })
    expect(await cursor.next(1)).toHaveLength(1)
    while (!names.includes('killCursors')) await sleep(5)
    await monitored.close()
  })

  /** Kills a cursor from another client. */
  async function kill(database: string, cursor: unknown): Promise<void> {
    client = new MongoClient(newPlace().mongodbUri!)
    const killed = await client.db(database).command({ killCursors: 'users', cursors: [cursor] })
    expect(killed['cursorsKilled']).toHaveLength(1)
  }
})

// Waits for two seconds, meanwhile the other tests run.
test.concurrent('servers that cannot be reached are named, without the credentials', async () => {
  const opening = openMongoStore('mongodb://ada:secret@127.0.0.1:1,127.0.0.1:2/users')
  await expect(opening).rejects.toThrow(StoreFailure)
  await expect(opening).rejects.toThrow(
    /^cannot open MongoDB at 127\.0\.0\.1:1,127\.0\.0\.1:2\/users: /,
  )
  await expect(opening).rejects.not.toThrow('secret')
})
