// GET /users on each store: the order, pages, the email filter, and lines. (Queries that are refused:
// contract/query.test.ts; long lists and slow readers: contract/list-body.test.ts.)
import { describe, expect, test } from '@jest/globals'
import type { IncomingHttpHeaders } from 'node:http'
import type { User } from '../src/store/user-store.ts'
import { useService } from './support/service.ts'
import { describeStores, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

const LAST = 'f'.repeat(24) // an id after all others
const LINES = { accept: 'application/x-ndjson' }

describeStores((place) => {
  const store = useStore(place)
  const service = useService(store)
  const create = (fields?: Parameters<typeof newUser>[0]) => store().create(newUser(fields))
  const get = (path: string, headers = {}) => service().send(`GET ${path}`, { headers })
  const idsOf = (users: User[]) => users.map(({ id }) => id)

  async function createMany(count: number): Promise<User[]> {
    const users = []
    while (users.length < count) users.push(await create())
    return users
  }

  /** The path of the next page, if there is one. */
  const next = ({ link = '' }: IncomingHttpHeaders) =>
    /^<([^>]+)>; rel="next"$/.exec(link as string)?.[1]

  /** Follows the pages from `path` on, and calls `between` after each. */
  async function pagesFrom(path: string, between = async () => {}): Promise<User[][]> {
    const pages = []
    for (let target: string | undefined = path; target; await between()) {
      const { status, headers, json } = await get(target)
      expect(status).toBe(200)
      pages.push(json)
      target = next(headers)
    }
    return pages
  }

  describe('with limit, the pages', () => {
    test.each([1, 3, 8, 9])('of %i hold all users once, in order', async (limit) => {
      const [before, ...users] = await createMany(9)
      const pages = await pagesFrom(`/users?limit=${limit}&after=${before!.id}`)
      expect(pages.flat()).toEqual(users)
      const sizes = pages.map(({ length }) => length)
      expect(sizes.slice(0, -1)).toEqual(Array(Math.ceil(8 / limit) - 1).fill(limit))
    })

    test('link to the next page by a relative path that keeps the limit', async () => {
      const [first, second] = await createMany(3)
      const { headers } = await get(`/users?after=${first!.id}&limit=1`)
      expect(headers.link).toBe(`</users?limit=1&after=${second!.id}>; rel="next"`)
    })

    test('never link to an empty page', async () => {
      const [first] = await createMany(2)
      expect((await get(`/users?limit=1&after=${first!.id}`)).headers.link).toBeUndefined()
      expect((await get(`/users?limit=1&after=${LAST}`)).headers.link).toBeUndefined()
    })

    test('continue after a user who was deleted', async () => {
      const [gone, ...users] = await createMany(3)
      await store().remove(gone!.id)
      expect((await pagesFrom(`/users?limit=1&after=${gone!.id}`)).flat()).toEqual(users)
      expect((await get(`/users?after=${gone!.id}`)).json).toEqual(users)
    })

    test('hold every user that stays exactly once while others are created and deleted', async () => {
      const [before, ...others] = await createMany(31)
      const leaving = others.filter((_, i) => i % 3 === 0)
      const staying = others.filter((_, i) => i % 3 > 0)
      const creating = Array.from({ length: 3 }, () => createMany(5))
      const pages = await pagesFrom(`/users?limit=4&after=${before!.id}`, async () => {
        const gone = leaving.pop()
        if (gone) await store().remove(gone.id)
        if (gone) await create()
      })
      await Promise.all(creating)
      const seen = idsOf(pages.flat())
      expect(seen).toEqual([...new Set(seen)].sort())
      expect(seen.filter((id) => idsOf(staying).includes(id))).toEqual(idsOf(staying))
      expect(Math.max(...pages.map(({ length }) => length))).toBe(4)
    })

    test('are streamed when the users have long names', async () => {
      const { id } = await create()
      const users = []
      for (let i = 0; i < 4; i += 1) users.push(await create({ name: `${i}`.repeat(400_000) }))
      const { headers, json } = await get(`/users?limit=3&after=${id}`)
      expect(json).toEqual(users.slice(0, 3))
      expect(next(headers)).toContain(users[2]!.id)
      for (const user of users) await store().remove(user.id)
    })
  })

  test('with after alone, all users after that id come without a link', async () => {
    const [before, ...users] = await createMany(3)
    const { headers, json } = await get(`/users?after=${before!.id}`)
    expect([headers.link, json]).toEqual([undefined, users])
    expect((await get(`/users?after=${LAST}`)).text).toBe('[]')
  })

  describe('with email', () => {
    const find = async (email: string, more = '') =>
      (await get(`/users?email=${encodeURIComponent(email)}${more}`)).json

    test('the one user with exactly this email is found', async () => {
      const ada = await create()
      expect(await find(ada.email)).toEqual([ada])
      for (const other of ['nobody@example.com', ada.email.toUpperCase(), ` ${ada.email}`]) {
        expect(await find(other)).toEqual([])
      }
    })

    test('no user is found by the empty email', async () => {
      await create({ email: '' })
      expect((await get('/users?email=')).json).toEqual([])
      expect((await get('/users?email')).json).toEqual([])
    })

    test('the other parameters apply, too', async () => {
      const [before, ada, after] = await createMany(3)
      const { headers, json } = await get(`/users?limit=1&email=${ada!.email}`)
      expect([json, headers.link]).toEqual([[ada], undefined])
      expect(await find(ada!.email, `&after=${before!.id}`)).toEqual([ada])
      expect(await find(ada!.email, `&after=${ada!.id}`)).toEqual([])
      expect(await find(ada!.email, `&after=${after!.id}&limit=1`)).toEqual([])
    })
  })

  describe('as application/x-ndjson', () => {
    const lines = async (path: string) => (await get(path, LINES)).text
    const asLines = (...users: (User | undefined)[]) =>
      users.map((user) => `${JSON.stringify(user)}\n`).join('')

    test('the list has a line for each user, the same users as in JSON', async () => {
      await create()
      const { text, json } = await get('/users', LINES)
      expect(json).toEqual((await get('/users')).json)
      expect(text).toBe(asLines(...json))
    })

    test('the list takes every parameter', async () => {
      const [before, ada, grace] = await createMany(3)
      expect(await lines(`/users?after=${before!.id}`)).toBe(asLines(ada, grace))
      expect(await lines(`/users?email=${ada!.email}`)).toBe(asLines(ada))
      expect(await lines('/users?email=')).toBe('')
      expect(await lines(`/users?after=${LAST}`)).toBe('')
      const { headers, text } = await get(`/users?limit=1&after=${before!.id}`, LINES)
      expect([text, next(headers)]).toEqual([asLines(ada), expect.stringContaining(ada!.id)])
    })
  })
})
