// What every store must do: one suite, run on each.
import { describe, expect, test } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { MongoClient, ObjectId } from 'mongodb'
import { randomBytes } from 'node:crypto'
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { EmailTaken, StoreFailure, type User } from '../../src/store/user-store.ts'
import { databaseIn, openStore } from '../../src/store/open.ts'
import { backUpSqlite } from '../../src/store/sqlite/store.ts'
import { describeStores, mongodbPlace, sqlitePlace, useStore, usersIn } from '../support/stores.ts'

let made = 0
const someEmail = () => `user-${(made += 1)}@example.com`
const ABSENT = '665f1c2e8b3f4a0012d4ffff'

const TEXTS = {
  'an accent, composed': 'é',
  'an accent, decomposed': 'e\u0301',
  'every plane': '\u{1F600}\u{20000}\u{E0001}\u{10FFFF}',
  'a NUL': 'a\0b',
  'only a NUL': '\0',
  'a byte order mark': '\uFEFFx',
  'the replacement character': '\uFFFD',
  'line separators': '\u2028\u2029\r\n\t',
  'quotes and backslashes': `'"\\\``,
  SQL: `'); DROP TABLE users; --`,
  'a query operator': '{"$ne":null}',
  'an operator name': '$where',
  'a prototype': '__proto__',
  'spaces around': '  x  ',
  'upper case': 'É',
  'a long text': 'long '.repeat(100_000),
}

describeStores((place) => {
  const open = useStore(place)
  const create = (email = someEmail(), name = 'Ada') => open().create({ name, email })

  describe('many users at once', () => {
    const someId = () => randomBytes(12).toString('hex')

    test('are stored, those with an id under it, and each has an outcome of its own', async () => {
      const [email, id, taken] = [someEmail(), someId(), await create()]
      const users = [
        { name: 'a', email },
        { name: 'b', email: someEmail(), id },
        { name: 'c', email },
        { name: 'd', email: taken.email },
        { name: 'e', email: someEmail(), id },
        { name: 'f', email: '', id: taken.id },
        { name: 'g', email: '' },
      ]
      expect(await open().createMany(users, false)).toEqual([
        'created',
        'created',
        'email taken',
        'email taken',
        'id taken',
        'id taken',
        'created',
      ])
      expect(await open().findByEmail(email)).toMatchObject({ name: 'a' })
      expect(await open().find(id)).toEqual({ ...users[1] })
      expect(await open().find(taken.id)).toEqual(taken)
    })

    test('take the name of the last with their email, when they are to be updated', async () => {
      const { id, email } = await create()
      const names = ['Ada', 'Eve', 'Eve', 'Ada', 'Bob\0']
      const users = names.map((name) => ({ name, email }))
      expect(await open().createMany(users, true)).toEqual([
        'email taken',
        'updated',
        'email taken',
        'updated',
        'updated',
      ])
      expect(await open().find(id)).toEqual({ id, name: 'Bob\0', email })
      const other = { id, name: 'x', email: someEmail() }
      expect(await open().createMany([other, { id, name: 'y', email: '' }], true)).toEqual([
        'id taken',
        'id taken',
      ])
    })

    test('may be none, or as many as it takes', async () => {
      expect(await open().createMany([], false)).toEqual([])
      const users = Array.from({ length: Math.min(open().most, 2_000) }, () => ({
        name: 'x',
        email: someEmail(),
      }))
      const outcomes = await open().createMany(users, false)
      expect(outcomes).toEqual(users.map(() => 'created'))
      const last = users.at(-1)!
      expect(await open().findByEmail(last.email)).toMatchObject(last)
      const ids = await Promise.all(
        users.map(async ({ email }) => (await open().findByEmail(email))!.id),
      )
      expect(ids).toEqual(ids.toSorted())
    })
  })

  test('gives a new user an id of 24 lower-case hexadecimal digits', async () => {
    const email = someEmail()
    expect(await open().create({ name: 'Ada', email })).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      name: 'Ada',
      email,
    })
  })

  test('finds a user by its id', async () => {
    const user = await create()
    expect(await open().find(user.id)).toEqual(user)
  })

  test('finds a user by its email', async () => {
    const user = await create()
    expect(await open().findByEmail(user.email)).toEqual(user)
  })

  test.each([
    ['of no user', ABSENT],
    ['empty', ''],
    ['short', 'abc'],
    ['not hexadecimal', 'z'.repeat(24)],
    ['of 12 characters, which are an ObjectId too', 'abcdefghijkl'],
    ['an operator', '{"$gt":""}'],
  ])('knows no user with an id that is %s', async (_, id) => {
    expect(await open().find(id)).toBeUndefined()
    expect(await open().rename(id, 'x')).toBe(false)
    expect(await open().remove(id)).toBe(false)
  })

  test.each([
    ['in upper case', (id: string) => id.toUpperCase()],
    ['with a NUL behind it', (id: string) => `${id}\0`],
    ['with a line feed behind it', (id: string) => `${id}\n`],
  ])('knows no user by an id %s', async (_, spell) => {
    const { id } = await create()
    expect(await open().find(spell(id))).toBeUndefined()
    expect(await open().rename(spell(id), 'x')).toBe(false)
    expect(await open().remove(spell(id))).toBe(false)
  })

  test('refuses a second user with the same email, naming it', async () => {
    const { email } = await create()
    const second = create(email, 'Eve')
    await expect(second).rejects.toThrow(EmailTaken)
    await expect(second).rejects.toThrow(`\`${email}\``)
    expect(await open().findByEmail(email)).toMatchObject({ name: 'Ada' })
  })

  test('lets one of many simultaneous users have an email', async () => {
    const email = someEmail()
    const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => create(email)))
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const attempt of attempts) {
      if (attempt.status === 'rejected') expect(attempt.reason).toBeInstanceOf(EmailTaken)
    }
  })

  test('gives each of many simultaneous look-ups its own user', async () => {
    const users = await Promise.all(Array.from({ length: 250 }, () => create()))
    const ids = users.flatMap(({ id }) => [id, ABSENT, id, 'nonsense'])
    const emails = users.flatMap(({ email }) => [email, someEmail()])
    const byId = await Promise.all(ids.map((id) => open().find(id)))
    const byEmail = await Promise.all(emails.map((email) => open().findByEmail(email)))
    expect(byId).toEqual(users.flatMap((user) => [user, undefined, user, undefined]))
    expect(byEmail).toEqual(users.flatMap((user) => [user, undefined]))
  })

  test('gives each of many simultaneous creates its own outcome', async () => {
    const taken = (await create()).email
    const twice = someEmail()
    const emails = Array.from({ length: 250 }, (_, i) =>
      i % 5 === 1 ? taken : i % 5 === 2 ? twice : i % 5 === 3 ? '' : someEmail(),
    )
    const outcomes = await Promise.all(
      emails.map((email, i) =>
        create(email, `${i}`.repeat(i === 7 ? 100_000 : 1)).catch((error: Error) => error),
      ),
    )
    const winners = outcomes.filter((one) => !(one instanceof Error) && one.email === twice)
    expect(winners).toHaveLength(1)
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome instanceof Error) {
        expect([taken, twice]).toContain(emails[i])
        expect(outcome).toBeInstanceOf(EmailTaken)
        expect(outcome.message).toContain(`\`${emails[i]}\``)
      } else {
        expect(emails[i]).not.toBe(taken)
        expect(await open().find(outcome.id)).toEqual(outcome)
      }
    }
  })

  test('gives each of many simultaneous writes of one user an outcome that some order explains', async () => {
    const { id, email } = await create()
    const [renamed, removed, again, another] = await Promise.all([
      open().rename(id, 'Grace'),
      open().remove(id),
      open().remove(id),
      create(email).catch((error: Error) => error),
    ])
    expect([renamed, removed !== again]).toEqual([expect.any(Boolean), true])
    expect(await open().find(id)).toBeUndefined()
    const found = await open().findByEmail(email)
    expect(found).toEqual(another instanceof Error ? undefined : another)
  })

  test('sees in a look-up what was acknowledged before it', async () => {
    for (let i = 0; i < 50; i += 1) {
      const { id, email } = await create()
      const [byId, byEmail] = await Promise.all([open().find(id), open().findByEmail(email)])
      expect([byId?.id, byEmail?.id]).toEqual([id, id])
      await open().rename(id, `${i}`)
      expect((await open().find(id))?.name).toBe(`${i}`)
    }
  })

  test('lets any number of users have no email, and finds none of them by it', async () => {
    const users = [await create(''), await create('')]
    expect(users.map(({ email }) => email)).toEqual(['', ''])
    expect(await open().find(users[0]!.id)).toEqual(users[0])
    expect(await open().findByEmail('')).toBeUndefined()
  })

  test.each(Object.entries(TEXTS))('gives back %s as it went in', async (_, text) => {
    const user = await create(text, text)
    expect(user).toMatchObject({ name: text, email: text })
    expect(await open().find(user.id)).toEqual(user)
    expect(await open().findByEmail(text)).toEqual(user)
    expect(await open().rename(user.id, `${text}!`)).toBe(true)
    expect(await open().find(user.id)).toEqual({ ...user, name: `${text}!` })
    await expect(create(text)).rejects.toThrow(EmailTaken)
  })

  test('compares emails exactly: no trimming, no case folding, no normalisation', async () => {
    const spellings = [
      'ada@x.org',
      'Ada@x.org',
      ' ada@x.org',
      'ada@x.org ',
      'ad\u00e1@x.org',
      'ada\u0301@x.org',
    ]
    const users = []
    for (const email of spellings) users.push(await create(email))
    for (const user of users) expect(await open().findByEmail(user.email)).toEqual(user)
  })

  test('renames one user, and nothing else of it', async () => {
    const [user, other] = [await create(), await create()]
    expect(await open().rename(user.id, 'Augusta')).toBe(true)
    expect(await open().find(user.id)).toEqual({ ...user, name: 'Augusta' })
    expect(await open().find(other.id)).toEqual(other)
  })

  test('renames a user to the name that it has', async () => {
    const user = await create()
    expect(await open().rename(user.id, user.name)).toBe(true)
  })

  test.each(Object.entries(TEXTS))('renames and removes only who is called %s', async (_, name) => {
    const { id } = await create('', name)
    for (const other of [
      `${name}x`,
      name.slice(1),
      `${name}\0`,
      name.normalize('NFKD').toLowerCase(),
    ]) {
      if (other === name) continue
      expect(await open().rename(id, 'x', other)).toBe(false)
      expect(await open().remove(id, other)).toBe(false)
    }
    expect(await open().rename(id, '', name)).toBe(true)
    expect(await open().rename(id, 'x', name)).toBe(false)
    expect(await open().rename(id, name, '')).toBe(true)
    expect(await open().remove(id, name)).toBe(true)
    expect(await open().remove(id, name)).toBe(false)
    expect(await open().rename(id, 'x', name)).toBe(false)
  })

  test('of many who rename a user from one name lets one', async () => {
    const where = place()
    const store = await openStore(where)
    const { id } = await store.create({ name: 'old', email: '' })
    const names = Array.from({ length: 20 }, (_, i) => `${i}`)
    const renamed = await Promise.all(names.map((name) => store.rename(id, name, 'old')))
    expect(renamed.filter(Boolean)).toHaveLength(1)
    expect((await store.find(id))?.name).toBe(names[renamed.indexOf(true)])
    const removed = await Promise.all(names.map((name) => store.remove(id, name)))
    expect(removed).toEqual(renamed)
    await store.close()
    await where.remove()
  })

  test('removes a user once, and frees its email', async () => {
    const user = await create()
    expect(await open().remove(user.id)).toBe(true)
    expect(await open().remove(user.id)).toBe(false)
    expect(await open().find(user.id)).toBeUndefined()
    expect(await open().findByEmail(user.email)).toBeUndefined()
    expect(await open().rename(user.id, 'x')).toBe(false)
    expect((await create(user.email)).id).not.toBe(user.id)
  })

  test('sees at once what another opening of the same store wrote', async () => {
    const where = place()
    const [one, two] = [await openStore(where), await openStore(where)]
    const user = await one.create({ name: 'Ada', email: someEmail() })
    expect(await two.find(user.id)).toEqual(user)
    await expect(two.create(user)).rejects.toThrow(EmailTaken)
    await Promise.all([one.close(), two.close()])
    await where.remove()
  })

  describe('of a store of its own', () => {
    const own = useStore(place)

    test('is empty until it has a user, then lists all of them in order of creation', async () => {
      expect(await own().isEmpty()).toBe(true)
      expect(await usersIn(own())).toEqual([])
      const users: User[] = []
      for (let i = 0; i < 1_100; i += 1) {
        users.push(await own().create({ name: `${i}`, email: i % 3 ? `${i}@example.com` : '' }))
      }
      expect(await own().isEmpty()).toBe(false)
      expect(await usersIn(own())).toEqual(users)
    })

    test('lists users that fill its pages exactly', async () => {
      const users = await usersIn(own())
      for (const { id } of users.slice(1_000)) await own().remove(id)
      expect(await usersIn(own())).toEqual(users.slice(0, 1_000))
    })

    test('lists the users behind an id, there or not, and tells their first ids', async () => {
      const users = await usersIn(own())
      const ids = users.map(({ id }) => id)
      expect(await own().ids(undefined, 1_001)).toEqual(ids)
      expect(await own().ids(undefined, 3)).toEqual(ids.slice(0, 3))
      for (const at of [0, 498, 998, 999]) {
        expect(await usersIn(own(), { after: ids[at]! })).toEqual(users.slice(at + 1))
        expect(await own().ids(ids[at], 2)).toEqual(ids.slice(at + 1, at + 3))
        const before = ids[at]!.slice(0, 12) + '0'.repeat(12)
        expect(await own().ids(before, 1)).toEqual([ids[at]])
      }
    })

    test('lists the users with the ids that it is given, and no others', async () => {
      const users = await usersIn(own())
      const some = users.filter((_, i) => i % 2 > 0)
      const ids = [ABSENT, ...some.map(({ id }) => id)].sort()
      expect(await usersIn(own(), { ids })).toEqual(some)
      expect(await usersIn(own(), { ids: [ABSENT] })).toEqual([])
      expect(await usersIn(own(), { ids: [] })).toEqual([])
    })

    test('leaves other work its turn while it lists', async () => {
      let turns = 0
      let listing = true
      const count = () => {
        turns += 1
        if (listing) setImmediate(count)
      }
      count()
      await usersIn(own())
      listing = false
      expect(turns).toBeGreaterThan(2)
    })

    test('lets go of a list that is not read to its end', async () => {
      for await (const page of own().list()) {
        expect(page[0]!.name).toBe('0')
        break
      }
      expect(await own().create({ name: 'later', email: '' })).toMatchObject({ name: 'later' })
    })
  })

  test('keeps its users when it is closed and opened again', async () => {
    const where = place()
    const before = await openStore(where)
    const user = await before.create({ name: 'Ada', email: someEmail() })
    await before.close()
    const after = await openStore(where)
    expect(await usersIn(after)).toEqual([user])
    await after.close()
    await where.remove()
  })

  test('lists every text as it was given', async () => {
    const where = place()
    const store = await openStore(where)
    const users = []
    for (const text of Object.values(TEXTS)) {
      users.push(await store.create({ name: text, email: text }))
    }
    expect(await usersIn(store)).toEqual(users)
    await store.close()
    await where.remove()
  })

  test('lists users of long texts a few at a time', async () => {
    const where = place()
    const store = await openStore(where)
    const long = 'long '.repeat(40_000)
    const users = []
    for (const name of ['a', long, long, long, long, long, long, 'b', 'c']) {
      users.push(await store.create({ name, email: '' }))
    }
    const ids = users.map(({ id }) => id)
    for (const which of [{}, { ids }]) {
      expect(await usersIn(store, which)).toEqual(users)
      if (where.mongodbUri) continue
      for await (const page of store.list(which)) expect(page.length).toBeLessThan(1_100_000)
    }
    await store.close()
    await where.remove()
  })

  test('does no more at once than it has bounds for', async () => {
    const where = place()
    const sizes: number[] = []
    const store = await openStore(where, (_, size) => void sizes.push(size))
    const names = Array.from({ length: 1_050 }, (_, i) => `${i}`)
    const made = await Promise.all(names.map((name) => store.create({ name, email: '' })))
    await Promise.all(made.map(({ id }) => store.find(id)))
    const sum = sizes.reduce((one, other) => one + other)
    expect([sum, Math.max(...sizes)]).toEqual([2_100, where.mongodbUri ? 100 : 1_000])
    if (where.mongodbUri) {
      sizes.length = 0
      const long = 'long '.repeat(2_001)
      const users = [long, 'x', 'y'].map((name) => ({ name, email: '' }))
      const two = [...users, { name: '', email: long }].map((user) => store.create(user))
      await Promise.all(two)
      expect(sizes.sort()).toEqual([1, 1, 2])
    }
    await store.close()
    await where.remove()
  })

  test('fails with nothing but StoreFailure', async () => {
    const where = place()
    const store = await openStore(where)
    await store.close()
    const calls: (() => Promise<unknown>)[] = [
      () => store.create({ name: 'Ada', email: 'ada@example.com' }),
      () => store.find(ABSENT),
      () => store.findByEmail('ada@example.com'),
      () => usersIn(store),
      () => usersIn(store, { ids: [ABSENT] }),
      () => store.ids(ABSENT, 1),
      () => store.rename(ABSENT, 'x'),
      () => store.remove(ABSENT),
      () => store.isEmpty(),
    ]
    for (const call of calls) await expect(call()).rejects.toThrow(StoreFailure)
    await where.remove()
  })
})

test('on SQLite everything is in the database itself once it is closed, and the log empty', async () => {
  const place = sqlitePlace()
  const store = await openStore(place)
  await store.create({ name: 'Ada', email: '' })
  const log = join(place.dataDir, 'users.db-wal')
  expect(statSync(log).size).toBeGreaterThan(0)
  await store.close()
  expect(statSync(log).size).toBe(0)
  await place.remove()
})

test('on SQLite the file is in WAL mode and its table strict', async () => {
  const place = sqlitePlace()
  await (await openStore(place)).close()
  const db = new DatabaseSync(join(place.dataDir, 'users.db'))
  expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
  expect(db.prepare("SELECT sql FROM sqlite_schema WHERE name = 'users'").get()).toEqual({
    sql: expect.stringMatching(/STRICT$/),
  })
  db.close()
  await place.remove()
})

test('on SQLite a page has a million bytes of text at most, but for a user that has more', async () => {
  const place = sqlitePlace()
  const store = await openStore(place)
  const sizes = [500_000, 500_000, 2_000_000, 1, 500_000, 500_001]
  for (const size of sizes) await store.create({ name: 'x'.repeat(size), email: '' })
  const pages: number[][] = []
  for await (const page of store.list()) pages.push(page.map(({ name }) => name.length))
  expect(pages.flat()).toEqual(sizes)
  for (const page of pages.filter(({ length }) => length > 1)) {
    expect(page.reduce((one, other) => one + other)).toBeLessThanOrEqual(1_000_000)
  }
  await store.close()
  await place.remove()
})

test('on SQLite a page of exactly a million bytes of text is one', async () => {
  const place = sqlitePlace()
  const store = await openStore(place)
  for (const text of ['a', 'b']) await store.create({ name: '', email: text.repeat(500_000) })
  const pages = []
  for await (const page of store.list()) pages.push(page.length)
  expect(pages).toEqual([2])
  await store.close()
  await place.remove()
})

test('on SQLite a file that is no database is not opened, and named', async () => {
  const place = sqlitePlace()
  const file = databaseIn(place.dataDir)
  writeFileSync(file, 'no database '.repeat(100))
  const opening = openStore(place)
  await expect(opening).rejects.toThrow(StoreFailure)
  await expect(opening).rejects.toThrow(`cannot open SQLite in ${file}: file is not a database`)
  await place.remove()
})

test('on SQLite a copy is made while the store is in use, over nothing that is there', async () => {
  const place = sqlitePlace()
  const [from, to] = [databaseIn(place.dataDir), databaseIn(join(place.dataDir, 'copy'))]
  const missing = databaseIn(join(place.dataDir, 'missing'))
  const store = await openStore(place)
  const copied = await openStore({ mongodbUri: undefined, dataDir: join(place.dataDir, 'copy') })
  await copied.close()
  const failure = (error: string) => `cannot back up SQLite in ${error}`
  expect(() => backUpSqlite(from, to)).toThrow(failure(`${from} to ${to}: output file already`))
  rmSync(to)
  const user = await store.create({ name: 'Ada', email: '' })
  backUpSqlite(from, to)
  const copy = await openStore({ mongodbUri: undefined, dataDir: join(place.dataDir, 'copy') })
  expect(await usersIn(copy)).toEqual([user])
  expect(() => backUpSqlite(missing, `${to}2`)).toThrow(StoreFailure)
  expect(existsSync(`${to}2`)).toBe(false)
  await copy.close()
  await store.close()
  await place.remove()
})

test('on SQLite a write that fails among others fails alone, unless SQLite undoes all', async () => {
  const place = sqlitePlace()
  const store = await openStore(place)
  const db = new DatabaseSync(join(place.dataDir, 'users.db'))
  db.exec('CREATE TABLE others (id TEXT REFERENCES users (id) DEFERRABLE INITIALLY DEFERRED)')
  db.exec(`CREATE TRIGGER refuse_COMMIT AFTER INSERT ON users WHEN NEW.name = 'COMMIT'
    BEGIN INSERT INTO others VALUES ('nobody'); END`)
  for (const name of ['ABORT', 'ROLLBACK']) {
    db.exec(`CREATE TRIGGER refuse_${name} BEFORE INSERT ON users WHEN NEW.name = '${name}'
      BEGIN SELECT RAISE(${name}, 'no'); END`)
  }
  const create = (...names: string[]) =>
    Promise.allSettled(names.map((name) => store.create({ name, email: '' })))
  const statuses = async (...names: string[]) =>
    (await create(...names)).map((outcome) =>
      outcome.status === 'rejected' ? outcome.reason.constructor : outcome.value.name,
    )
  expect(await statuses('a', 'ABORT', 'b')).toEqual(['a', StoreFailure, 'b'])
  expect(await statuses('c', 'ROLLBACK', 'd')).toEqual([StoreFailure, StoreFailure, StoreFailure])
  expect(await statuses('f', 'COMMIT')).toEqual([StoreFailure, StoreFailure])
  const [undone] = await create('ROLLBACK')
  expect(undone).toMatchObject({ reason: { message: 'cannot use the data store: no' } })
  expect(await statuses('e')).toEqual(['e'])
  expect((await usersIn(store)).map(({ name }) => name)).toEqual(['a', 'b', 'e'])
  db.close()
  await store.close()
  await place.remove()
})

const testMongodb = process.env['MONGODB_URI'] ? test : test.skip

testMongodb('on MongoDB email has a unique index, and the order is that of the ids', async () => {
  const place = mongodbPlace()
  const store = await openStore(place)
  const client = new MongoClient(place.mongodbUri!)
  const collection = client.db().collection('users')
  const index = { name: 'users_email_unique', key: { email: 1 }, unique: true }
  expect(await collection.indexes()).toContainEqual(expect.objectContaining(index))
  const ids = ['665f1c2e8b3f4a0012d4c003', '665f1c2e8b3f4a0012d4c001', '665f1c2e8b3f4a0012d4c002']
  for (const id of ids) await collection.insertOne({ _id: new ObjectId(id), name: 'x' })
  expect((await usersIn(store)).map(({ id }) => id)).toEqual(ids.toSorted())
  await client.close()
  await store.close()
  await place.remove()
})

testMongodb('on MongoDB what else is in a document makes no difference', async () => {
  const place = mongodbPlace()
  const store = await openStore(place)
  const client = new MongoClient(place.mongodbUri!)
  const collection = client.db().collection('users')
  const email = 'ada@example.com'
  const id = expect.stringMatching(/^[0-9a-f]{24}$/)
  const documents = [
    [
      { age: 36, email, tags: ['x'], name: 'Ada' },
      { id, name: 'Ada', email },
    ],
    [
      { name: 'Ada', namesake: 'Byron' },
      { id, name: 'Ada', email: '' },
    ],
    [
      { email: 'b@x', age: 36 },
      { id, name: '', email: 'b@x' },
    ],
    [{ email: 'c@x' }, { id, name: '', email: 'c@x' }],
    [
      { names: 'x', name: 'Ada', age: 36 },
      { id, name: 'Ada', email: '' },
    ],
  ] as const
  for (const [document] of documents) await collection.insertOne({ ...document })
  const users = await usersIn(store)
  expect(users).toEqual(documents.map(([, user]) => user))
  expect(await Promise.all(users.map((user) => store.find(user.id)))).toEqual(users)
  expect(await store.findByEmail(email)).toEqual(users[0])
  for (const { id, name } of users) expect(await store.rename(id, `${name}!`, name)).toBe(true)
  await client.close()
  await store.close()
  await place.remove()
})

testMongodb('on MongoDB no option of the URI weakens a write', async () => {
  const place = mongodbPlace()
  const store = await openStore({ ...place, mongodbUri: `${place.mongodbUri}&w=0&journal=false` })
  await store.create({ name: 'Ada', email: 'ada@example.com' })
  const second = store.create({ name: 'Eve', email: 'ada@example.com' })
  await expect(second).rejects.toThrow(EmailTaken)
  await store.close()
  await place.remove()
})

test('on SQLite a write waits for one of another process without holding up the service', async () => {
  const place = sqlitePlace()
  const store = await openStore(place)
  const other = new DatabaseSync(join(place.dataDir, 'users.db'))
  other.exec('BEGIN IMMEDIATE')
  const writes = [store.create({ name: 'a', email: '' }), store.create({ name: 'b', email: '' })]
  await turn() // at the end of which the writes are tried
  expect(await store.isEmpty()).toBe(true)
  other.exec('COMMIT')
  expect(await Promise.all(writes)).toMatchObject([{ name: 'a' }, { name: 'b' }])

  other.exec('BEGIN IMMEDIATE')
  await expect(store.create({ name: 'c', email: '' })).rejects.toThrow(StoreFailure)
  other.exec('ROLLBACK')
  expect(await store.create({ name: 'd', email: '' })).toMatchObject({ name: 'd' })
  other.close()
  await store.close()
  await place.remove()
})
