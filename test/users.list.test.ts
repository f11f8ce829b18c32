// GET /users on each store: the order, pages, the email filter, and lines. (How a query is read, long lists and slow
// readers: chassis/contract/query.test.ts and list-body.test.ts.)
import { expect, test } from '@jest/globals'
import type { User } from '../src/store/user-store.ts'
import { useService } from './support/service.ts'
import { describeStores, sqlitePlace, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

const LAST = 'f'.repeat(24) // an id after all others

describeStores((place) => {
  const store = useStore(place)
  const service = useService(store)
  const create = (fields?: Partial<User>) => store().create(newUser(fields))
  const get = (path: string, headers = {}) => service().send(`GET ${path}`, { headers })

  async function createMany(count: number): Promise<User[]> {
    const users = []
    while (users.length < count) users.push(await create())
    return users
  }

  /** Follows the pages from `path` on. */
  async function pagesFrom(path: string) {
    const pages: User[][] = []
    for (let target: string | undefined = path; target;) {
      const response = await get(target)
      pages.push(response.json)
      const link = String(response.headers['link'])
      target = /^<([^>]+)>; rel="next"$/.exec(link)?.[1]
    }
    return pages
  }

  test.each([3, 8])('pages of %i hold all users once, in order', async (limit) => {
    const [before, ...users] = await createMany(9)
    const pages = await pagesFrom(`/users?limit=${limit}&after=${before!.id}`)
    expect(pages.flat()).toEqual(users)
    const sizes = pages.map(({ length }) => length)
    expect(sizes.slice(0, -1)).toEqual(Array(Math.ceil(8 / limit) - 1).fill(limit))
  })

  test('with email, the one user with it is listed if the other parameters apply, too', async () => {
    const [before, ada] = await createMany(3)
    const { headers, json } = await get(`/users?limit=1&email=${ada!.email}`)
    expect([json, headers.link]).toEqual([[ada], undefined])
    const listed = async (query: string) => (await get(`/users?email=${query}`)).json
    expect(await listed(`${ada!.email}&after=${before!.id}`)).toEqual([ada])
    for (const none of [`${ada!.email}&after=${ada!.id}`, `X${ada!.email}`, ''])
      expect(await listed(none)).toEqual([])
  })

  test('as application/x-ndjson it has the same users and link, whatever the parameters', async () => {
    const [before, ada] = await createMany(3)
    const page = `limit=1&after=${before!.id}`
    for (const query of ['', `after=${before!.id}`, `email=${ada!.email}`, 'email=', page]) {
      const list = await get(`/users?${query}`)
      const lines = await get(`/users?${query}`, { accept: 'application/x-ndjson' })
      expect(lines.headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
      expect([lines.json, lines.headers.link]).toEqual([list.json, list.headers.link])
    }
  })
})

const service = useService(useStore(sqlitePlace))
const NOT_IDS = ['', 'x', LAST.slice(1), `${LAST}0`, LAST.toUpperCase(), `${LAST}%0A`]

test.each(['limit=0', 'limit=1.5', 'limit=1001', ...NOT_IDS.map((id) => `after=${id}`)])(
  'GET /users?%s is 400',
  async (query) => expect((await service().send(`GET /users?${query}`)).status).toBe(400),
)
