// GET /users on each store: the email filter. (Pages: store/user-store.test.ts and client/client.test.ts. How a query is
// read, lines, long lists and slow readers: chassis/contract/query.test.ts and list-body.test.ts.)
import { expect, test } from '@jest/globals'
import { newUser as withDefaults } from '../src/users.ts'
import { useService } from './support/service.ts'
import { createIn, describeStores, sqlitePlace, useStore } from './support/stores.ts'
import { FILTERS, newUser } from './support/users.ts'

const LAST = 'f'.repeat(24) // an id after all others

describeStores((place) => {
  const store = useStore(place)
  const service = useService(store)
  const get = (path: string) => service().send(`GET ${path}`)

  test('with email, the one user with it is listed if the other parameters apply, too', async () => {
    const [before, ada] = await createIn(store(), [newUser(), newUser(), newUser()])
    const { headers, json } = await get(`/users?limit=1&email=${ada!.email}`)
    expect([json, headers.link]).toEqual([[ada], undefined])
    const listed = async (query: string) => (await get(`/users?email=${query}`)).json
    expect(await listed(`${ada!.email}&after=${before!.id}`)).toEqual([ada])
    for (const none of [`${ada!.email}&after=${ada!.id}`, `X${ada!.email}`, ''])
      expect(await listed(none)).toEqual([])
    const byDefault: Record<string, unknown> = withDefaults({} as never)
    for (const field of FILTERS) {
      const filtered = (value: unknown) =>
        listed(`${ada!.email}&${field}=${encodeURIComponent(String(value))}`)
      expect([field, await filtered(ada![field])]).toEqual([field, [ada]])
      expect([field, await filtered(byDefault[field])]).toEqual([field, []])
    }
  })
})

const service = useService(useStore(sqlitePlace))
const NOT_IDS = ['', 'x', LAST.slice(1), `${LAST}0`, LAST.toUpperCase(), `${LAST}%0A`]

test.each(['limit=0', 'limit=1.5', 'limit=1001', ...NOT_IDS.map((id) => `after=${id}`)])(
  'GET /users?%s is 400',
  async (query) => expect((await service().send(`GET /users?${query}`)).status).toBe(400),
)
