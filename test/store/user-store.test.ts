// What every store must do: one suite, run on each.
import { describe, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { isDeepStrictEqual } from 'node:util'
import { StoreFailure } from '../../src/chassis/index.ts'
import { pagesOf } from '../../src/store/pages.ts'
import { createdAt } from '../../src/store/user-id.ts'
import { EmailTaken, IdTaken, type User } from '../../src/store/user-store.ts'
import { dist } from '../support/program.ts'
import {
  createBareAt,
  createIn,
  describeStores,
  useOwnStores,
  usersIn,
  useStore,
} from '../support/stores.ts'
import { FILTERS, FREE_TEXTS, newUser, user } from '../support/users.ts'

const ABSENT = '665f1c2e8b3f4a0012d4ffff'

const TEXTS = {
  'one letter': 'x',
  'a composed accent': 'é',
  'text of every plane': '\u{1F600}\u{20000}\u{E0001}\u{10FFFF}',
  'a NUL': 'a\0b',
  'a byte order mark': '\uFEFFx',
  'line separators': '\u2028\u2029\r\n\t',
  'quotes and backslashes': `'"\\\``,
  SQL: `'); DROP TABLE users; --`,
  'a query operator': '{"$ne":null}',
  'the name of a prototype': '__proto__',
  'spaces around': '  x  ',
  'a long text': 'long '.repeat(100_000),
}

/** A process that deletes a user and creates it again, many times. */
const WRITER = `
  import { openStore } from '${dist}src/store/open.js'
  const [place, user] = JSON.parse(process.argv[1])
  const store = await openStore(place)
  for (let times = 0; times < 50; times += 1) {
    await store.remove(user.id)
    await store.create(user)
  }
  await store.close()`

const many = <T>(count: number, item: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => item(i))

describeStores((kind) => {
  const store = useStore(kind)
  const { newPlace, open } = useOwnStores(kind)
  const create = (fields?: Partial<User>) => store().create(newUser(fields))

  test('every field for texts can be any text, and comes back exactly; emails differ if any character does; a condition sees them all', async () => {
    const own = await open()
    const users: User[] = []
    for (const [kind, text] of Object.entries(TEXTS)) {
      const texts = FREE_TEXTS.map((field) => [field, text])
      const given = { ...newUser(), ...Object.fromEntries(texts) }
      const created = await own.create(given)
      const found = [await own.find(created.id), await own.findByEmail(text)]
      const renamed = { ...created, name: `${text}!` }
      const changes = { name: renamed.name }
      const sees = (answer: boolean) => (one: User) => {
        expect([kind, one]).toEqual([kind, created])
        return answer
      }
      expect(await own.rename(created.id, changes, sees(false))).toBe('refused')
      expect(await own.remove(created.id, sees(false))).toBe('refused')
      expect(await own.rename(created.id, changes, sees(true))).toBe('done')
      expect(await own.rename(created.id, changes)).toBe('done')
      found.push(await own.find(created.id))
      expect([kind, created]).toEqual([kind, { id: expect.any(String), ...given }])
      expect([kind, ...found]).toEqual([kind, created, created, renamed])
      await expect(own.create(newUser({ email: text }))).rejects.toThrow(EmailTaken)
      users.push(renamed)
    }
    expect(await usersIn(own)).toEqual(users)
  })

  test('create gives each of many simultaneous calls its own outcome; any number of users have no email', async () => {
    const own = await open()
    const first = await own.create(newUser())
    const { email: twice } = newUser()
    const kinds = [{}, { email: first.email }, { email: twice }, { email: '' }]
    const users = many(250, (i) => newUser(kinds[i % 4]))
    const create = (one: Omit<User, 'id'>) =>
      own.create(one).catch((error): Partial<User> => {
        if (error instanceof EmailTaken) return error
        throw error
      })
    const outcomes = await Promise.all(users.map(create))
    const winner = outcomes.findIndex(({ id, email }) => id && email === twice)
    expect(winner).toBeGreaterThan(0)
    const expected = users.map((one, i) => {
      const isTaken = one.email === first.email || (one.email === twice && i !== winner)
      return isTaken ? new EmailTaken(one.email) : { id: expect.any(String), ...one }
    })
    expect(outcomes).toEqual(expected)
    expect(await usersIn(own)).toEqual([first, ...outcomes.filter(({ id }) => id)])
    expect(await own.findByEmail('')).toBeUndefined()
  })

  test('create keeps an id from elsewhere, and refuses one that is taken', async () => {
    const [taken, second] = [await create(), user()]
    expect(await store().create(second)).toEqual(second)
    expect(await store().find(second.id)).toEqual(second)
    for (const { id } of [taken, second])
      for (const one of [user({ id }), user({ id, email: '' })])
        await expect(store().create(one)).rejects.toThrow(IdTaken)
    await expect(store().create(second)).rejects.toThrow(EmailTaken)
    expect(await store().find(taken.id)).toEqual(taken)
  })

  describe('find, rename and remove', () => {
    test.each([
      ['of no user', () => ABSENT],
      ['empty', () => ''],
      ['of 12 characters, which MongoDB takes too', () => 'abcdefghijkl'],
      ['in upper case', (id: string) => id.toUpperCase()],
      ['after a blank', (id: string) => ` ${id}`],
      ['followed by a NUL', (id: string) => `${id}\0`],
    ])('find no user by an id that is %s', async (_, spell) => {
      const id = spell((await create()).id)
      expect(await store().find(id)).toBeUndefined()
      expect(await store().rename(id, { name: 'x' })).toBe('not found')
      expect(await store().remove(id)).toBe('not found')
      expect(await store().remove(id, () => true)).toBe('not found')
    })

    test('give each of many simultaneous look-ups its own user', async () => {
      const own = await open()
      const users = await Promise.all(many(250, () => own.create(newUser())))
      const ids = users.flatMap(({ id }) => [id, ABSENT, id, 'nonsense'])
      const emails = users.flatMap(({ email }) => [email, newUser().email])
      const byId = await Promise.all(ids.map((id) => own.find(id)))
      const byEmail = await Promise.all(emails.map((email) => own.findByEmail(email)))
      expect(byId).toEqual(users.flatMap((one) => [one, undefined, one, undefined]))
      expect(byEmail).toEqual(users.flatMap((one) => [one, undefined]))
    })

    test('remove deletes a user once, and frees its email', async () => {
      const { id, email } = await create()
      for (const result of ['done', 'not found'])
        expect(await store().remove(id, () => true)).toBe(result)
      expect(await store().find(id)).toBeUndefined()
      expect(await store().findByEmail(email)).toBeUndefined()
      expect(await store().rename(id, { name: 'x' })).toBe('not found')
      expect((await create({ email })).id).not.toBe(id)
    })

    test('let only one of many concurrent writers, of two openings, change a user from one name', async () => {
      const place = newPlace()
      const [own, other] = [await open(place), await open(place)]
      const { id } = await own.create(newUser({ name: 'old' }))
      const names = many(20, String)
      const isNamed = (expected: string) => (one: User) => one.name === expected
      const rename = (name: string, i: number) =>
        (i % 2 ? own : other).rename(id, { name }, isNamed('old'))
      const renamed = await Promise.all(names.map(rename))
      expect(renamed.filter((result) => result !== 'refused')).toEqual(['done'])
      expect((await own.find(id))?.name).toBe(names[renamed.indexOf('done')])
      const removed = await Promise.all(
        names.map((name, i) => (i % 2 ? own : other).remove(id, isNamed(name))),
      )
      expect(removed.filter((result) => result === 'done')).toHaveLength(1)
      expect(removed.indexOf('done')).toBe(renamed.indexOf('done'))
    })
  })

  describe('list', () => {
    const own = useStore(kind)
    const users: User[] = []

    test('has no user in an empty store, then all users in order of creation', async () => {
      expect(await own().oldest()).toBeNull()
      expect(await usersIn(own())).toEqual([])
      for (let i = 0; i < 200; i += 1) {
        users.push(await own().create(newUser(i % 3 ? {} : { email: '' })))
      }
      for (const count of [1_000, 805]) {
        const imported = many(count, () => user())
        await createIn(own(), imported.toReversed())
        users.push(...imported)
      }
      expect(await own().oldest()).toEqual(createdAt(users[0]!.id))
      expect(await usersIn(own())).toEqual(users)
    })

    test('has the users after an id, whether it exists or not, in pages of exactly the given limit, and says which is the last', async () => {
      for (const at of [0, 998, 1_994, 2_003, 2_004]) {
        const { id } = users[at]!
        const rest = users.slice(at + 1)
        expect(await usersIn(own(), { after: id })).toEqual(rest)
        const before = (BigInt(`0x${id}`) - 1n).toString(16)
        expect((await own().list({ after: before, limit: 1 })).users).toEqual([users[at]])
        for (const limit of [1, 2, 10, 11, 500]) {
          const next = rest.length > limit ? rest[limit - 1]!.id : undefined
          const page = { users: rest.slice(0, limit), next }
          expect(await own().list({ after: id, limit })).toEqual(page)
        }
      }
    })

    test('has a user that was stored before its fields came, also if filtered by what these are then', async () => {
      const place = newPlace()
      const own = await open(place)
      const { id } = user()
      await own.oldest()
      await createBareAt(place, id)
      const old = (await own.find(id))!
      expect(old).toEqual({ ...user({ id, name: '', email: '' }), ...old })
      expect(await usersIn(own)).toEqual([old])
      const other = await own.create(newUser())
      for (const field of FILTERS)
        for (const one of [old, other])
          expect([field, await usersIn(own, { [field]: one[field] })]).toEqual([field, [one]])
      expect(await own.rename(id, { name: 'x' }, (one) => isDeepStrictEqual(one, old))).toBe('done')
    })

    // The lengths of the names, and the pages by the users' places: with all, and without the second one.
    test.each([
      ['short users', many(501, () => 1), [many(500, (i) => i), [0, ...many(499, (i) => i + 2)]]],
      [
        'long users',
        [30_000, 30_000, 30_000],
        [
          [0, 1],
          [0, 2],
        ],
      ],
      ['one long user', [1, 1, 100_000], [[0, 1], [0]]],
    ])(
      'has pages that the store held at one time, while another process deletes and creates users: %s',
      async (_, lengths, pages) => {
        const place = newPlace()
        const own = await open(place)
        const users = await createIn(
          own,
          lengths.map((length) => user({ name: 'x'.repeat(length) })),
        )
        const possible = pages.map((page) => {
          const isLast = page.at(-1) === users.length - 1
          const ids = page.map((i) => users[i]!.id)
          return String([...ids, isLast ? undefined : ids.at(-1)])
        })
        const args = JSON.stringify([place, users[1]])
        const writer = spawn(process.execPath, ['--input-type=module', '-e', WRITER, args])
        while (writer.exitCode === null) {
          const { users, next } = await own.list({ limit: 500 })
          expect(possible).toContain(String([...users.map(({ id }) => id), next]))
        }
        expect(writer.exitCode).toBe(0)
      },
    )

    // SECURITY.md: A page of a list
    test('has pages of 64 KiB at most, but for one longer user', async () => {
      const own = await open()
      const [short, long] = [Array<number>(700).fill(1), 30_000]
      const lengths = [...short, long, long, 200_000, 1, 1, long, long, long, 1_000_000, 200_000]
      const users = lengths.map((length) => user({ name: 'x'.repeat(length) }))
      const lengthOf = (page: User[]) => page.reduce((sum, { name }) => sum + name.length, 0)
      await createIn(own, users)
      const listed: User[] = []
      for await (const page of pagesOf(own)) {
        listed.push(...page)
        expect(page.length === 1 || lengthOf(page) <= 65_536).toBe(true)
        const { id: after } = page.at(-1)!
        const rest = users.slice(listed.length)
        for (const limit of [1, 2, 3, 1_001]) {
          const { users, next } = await own.list({ after, limit })
          expect(users.length <= 1 || lengthOf(users) <= 65_536).toBe(true)
          expect(next).toBe(users.length < rest.length ? users.at(-1)!.id : undefined)
        }
      }
      expect(listed).toEqual(users)
    })

    test('has pages that are emptied when the next is asked for', async () => {
      const own = await open()
      await createIn(own, [user({ name: 'x'.repeat(60_000) }), user({ name: 'x'.repeat(60_000) })])
      const pages: User[][] = []
      for await (const page of pagesOf(own)) pages.push(page)
      expect(pages).toEqual([[], []])
    })
  })

  // No more are looked up at a time: LIMITS.maxLargeBodies, with the greatest BODY_LIMIT.
  test('no look-up fails because 16 others at the same time have emails of a megabyte', async () => {
    const own = await open()
    const one = await own.create(newUser())
    const emails = many(16, (i) => ['x'.repeat(1_048_500 + i), one.email]).flat()
    const found = await Promise.all(emails.map((email) => own.findByEmail(email)))
    expect(found).toEqual(many(16, () => [undefined, one]).flat())
  })

  test('a closed store fails with StoreFailure', async () => {
    const own = await open()
    await own.close()
    const calls: (() => Promise<unknown>)[] = [
      () => own.create(newUser()),
      () => own.find(ABSENT),
      () => own.findByEmail('ada@example.com'),
      () => usersIn(own),
      () => own.rename(ABSENT, { name: 'x' }),
      () => own.remove(ABSENT),
      () => own.oldest(),
    ]
    for (const call of calls) await expect(call()).rejects.toThrow(StoreFailure)
  })
})
