// GET /users by its parameters and as lines: on each store, over HTTP.
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { User } from '../../src/store/user-store.ts'
import { useService } from '../support/service.ts'
import { describeStores, useStore } from '../support/stores.ts'

const LAST = 'f'.repeat(24) // an id behind all others
const LINES = { headers: { accept: 'application/x-ndjson' } }

let made = 0
const someEmail = () => `user-${(made += 1)}@example.com`

describeStores((place) => {
  const store = useStore(place)
  const service = useService(store)
  const create = (name = 'Ada', email = someEmail()) => store().create({ name, email })
  const get = (path: string, headers = {}) => service().send(`GET ${path}`, { headers })
  const idsOf = (users: User[]) => users.map(({ id }) => id)

  /** The target of the link to the next page, if there is one. */
  const next = (headers: { link?: string }) =>
    /^<([^>]+)>; rel="next"$/.exec(headers.link ?? '')?.[1]

  /** The pages from `path` on; what happens between two of them is `meanwhile`. */
  async function walk(path: string, meanwhile = async () => {}): Promise<User[][]> {
    const pages = []
    for (let target: string | undefined = path; target; await meanwhile()) {
      const { status, headers, json } = await get(target)
      expect(status).toBe(200)
      pages.push(json)
      target = next(headers as { link?: string })
    }
    return pages
  }

  describe('pages', () => {
    test.each([1, 2, 3, 7, 8, 9])('of %i are all users, once and in their order', async (limit) => {
      const [before] = idsOf([await create()])
      const users = []
      for (let i = 0; i < 8; i += 1) users.push(await create(`${i}`))
      const pages = await walk(`/users?limit=${limit}&after=${before}`)
      expect(pages.flat()).toEqual(users)
      const full = Array.from({ length: Math.ceil(8 / limit) - 1 }, () => limit)
      expect(pages.map(({ length }) => length).slice(0, -1)).toEqual(full)
    })

    test('are linked by a relative target that keeps the limit', async () => {
      const { id: after } = await create()
      const [{ id }] = [await create(), await create()]
      const { headers } = await get(`/users?after=${after}&limit=1`)
      expect(headers.link).toBe(`</users?limit=1&after=${id}>; rel="next"`)
    })

    test('are linked to no empty one', async () => {
      const { id } = await create()
      await create()
      expect((await get(`/users?limit=1&after=${id}`)).headers.link).toBeUndefined()
      expect((await get(`/users?limit=1&after=${LAST}`)).headers.link).toBeUndefined()
    })

    test('begin behind a user who is there no more', async () => {
      const [gone, ...users] = [await create(), await create(), await create()]
      await store().remove(gone.id)
      expect((await walk(`/users?limit=1&after=${gone.id}`)).flat()).toEqual(users)
      expect((await get(`/users?after=${gone.id}`)).json).toEqual(users)
    })

    test('are all users behind one without a limit', async () => {
      const [{ id }, ...users] = [await create(), await create(), await create()]
      const { headers, json } = await get(`/users?after=${id}`)
      expect([headers.link, json]).toEqual([undefined, users])
      expect((await get(`/users?after=${LAST}`)).text).toBe('[]')
    })

    test('have whoever stays, once, while others come and go', async () => {
      const { id } = await create()
      const staying: User[] = []
      const leaving: User[] = []
      for (let i = 0; i < 30; i += 1) (i % 3 ? staying : leaving).push(await create())
      const pages = await walk(`/users?limit=4&after=${id}`, async () => {
        const gone = leaving.pop()
        if (gone) await store().remove(gone.id)
        if (gone) await create('a newcomer')
      })
      const seen = idsOf(pages.flat())
      expect(seen).toEqual([...new Set(seen)].sort())
      expect(seen.filter((one) => idsOf(staying).includes(one))).toEqual(idsOf(staying))
    })

    test('hold no more than the limit, and have whoever stays, while users are made at once', async () => {
      const { id } = await create()
      const staying: User[] = []
      for (let i = 0; i < 10; i += 1) staying.push(await create())
      const makers = Array.from({ length: 3 }, async () => {
        for (let i = 0; i < 10; i += 1) await create('a newcomer')
      })
      const walks = [walk(`/users?limit=3&after=${id}`), walk(`/users?limit=3&after=${id}`)]
      for (const pages of await Promise.all(walks)) {
        expect(Math.max(...pages.map(({ length }) => length))).toBe(3)
        expect(idsOf(pages.flat()).slice(0, 10)).toEqual(idsOf(staying))
      }
      await Promise.all(makers)
    })

    test('of users with long texts are streamed whole', async () => {
      const { id } = await create()
      const users = []
      for (let i = 0; i < 6; i += 1) users.push(await create(`${i}`.repeat(400_000)))
      const { headers, json } = await get(`/users?limit=5&after=${id}`)
      expect(json).toEqual(users.slice(0, 5))
      expect(next(headers as { link?: string })).toContain(users[4]!.id)
    })

    test('are known to HEAD, too', async () => {
      const { id } = await create()
      await create()
      await create()
      const path = `/users?limit=1&after=${id}`
      const { status, headers, text } = await service().send(`HEAD ${path}`)
      const { headers: same } = await get(path)
      expect([status, text, headers.link]).toEqual([200, '', same.link])
    })
  })

  describe('email', () => {
    const find = async (email: string, more = '') =>
      (await get(`/users?email=${encodeURIComponent(email)}${more}`)).json

    test('finds the one user who has it, or nobody', async () => {
      const ada = await create()
      expect(await find(ada.email)).toEqual([ada])
      for (const other of ['nobody@example.com', ada.email.toUpperCase(), ` ${ada.email}`, '']) {
        expect(await find(other)).toEqual([])
      }
    })

    test('finds nobody by the empty one, though there are users without', async () => {
      await create('no email', '')
      expect((await get('/users?email=')).json).toEqual([])
      expect((await get('/users?email')).json).toEqual([])
    })

    test('finds every text that JSON and UTF-8 can hold', async () => {
      const text = fc.string({ unit: 'binary', minLength: 1 })
      const property = fc.asyncProperty(text, async (email) => {
        const one = (await store().findByEmail(email)) ?? (await create('x', email))
        expect(await find(email)).toEqual([one])
        const form = new URLSearchParams({ email }).toString()
        expect((await get(`/users?${form}`)).json).toEqual([one])
      })
      await fc.assert(property)
    })

    test('takes a plus for a space, as forms do, unless it is encoded', async () => {
      const tagged = await create('x', `a+b ${someEmail()}`)
      const spaced = await create('x', tagged.email.replace('+', ' '))
      const query = encodeURIComponent(tagged.email)
      expect((await get(`/users?email=${query}`)).json).toEqual([tagged])
      expect((await get(`/users?email=${query.replace('%2B', '+')}`)).json).toEqual([spaced])
    })

    test('goes with the other parameters', async () => {
      const [before, ada, after] = [await create(), await create(), await create()]
      const { headers, json } = await get(`/users?limit=1&email=${ada.email}`)
      expect([json, headers.link]).toEqual([[ada], undefined])
      expect(await find(ada.email, `&after=${before.id}`)).toEqual([ada])
      expect(await find(ada.email, `&after=${ada.id}`)).toEqual([])
      expect(await find(ada.email, `&after=${after.id}&limit=1`)).toEqual([])
    })
  })

  describe('a query that is refused names its parameter:', () => {
    const id = '665f1c2e8b3f4a0012d4c001'
    test.each([
      ['page=2', 'page'],
      ['limit=1&page=2', 'page'],
      ['Limit=1', 'Limit'],
      ['limit[]=1', 'limit[]'],
      ['email[$ne]=x', 'email[$ne]'],
      ['constructor=1', 'constructor'],
      ['__proto__=1', '__proto__'],
      ['=1', ''],
      ['%zz=1', '%zz'],
      ['limit=1;after=x', 'limit'],
      ['limit=1&limit=1', 'limit'],
      ['limit=1&%6Cimit=2', 'limit'],
      ['email=a&email=a', 'email'],
      [`after=${id}&after=${id}`, 'after'],
      ...[
        '',
        '0',
        '-1',
        '1001',
        '1.5',
        '1.0',
        '1e2',
        '01',
        '0x1',
        '+1',
        '%201',
        '1%20',
        '1%00',
      ].map((limit) => [`limit=${limit}`, 'limit']),
      ...['x', 'null', 'true', 'NaN', 'Infinity', '1,2', '９', '1%0A', '9'.repeat(400)].map(
        (limit) => [`limit=${encodeURI(limit).replaceAll('%25', '%')}`, 'limit'],
      ),
      ['limit', 'limit'],
      ...['', 'x', id.slice(1), `${id}0`, id.toUpperCase(), `${id}%0A`, `%20${id}`].map((after) => [
        `after=${after}`,
        'after',
      ]),
      ...['%', '%f', '%zz', '%ff', '%c3%28', '%ed%a0%80', '%C0%80', '%f4%90%80%80'].map((email) => [
        `email=${email}`,
        'email',
      ]),
    ])('%s', async (query, name) => {
      const answer = await get(`/users?${query}`)
      expect([answer.status, answer.json.message]).toEqual([
        400,
        expect.stringContaining(`query parameter \`${name}\` `),
      ])
    })

    test('and nothing else in it is looked at before the guard', async () => {
      const { status } = await service().send('GET /users?page=2', { authorization: undefined })
      expect(status).toBe(401)
    })
  })

  test.each(['/users?', '/users?&', '/users?limit=1000', '/users?limit=1&', '/users?%6Cimit=1'])(
    '%s is a query like any other',
    async (path) => expect((await get(path)).status).toBe(200),
  )

  describe('application/x-ndjson', () => {
    const lines = async (path: string) => (await service().send(`GET ${path}`, LINES)).text
    const asLines = (users: User[]) => users.map((user) => `${JSON.stringify(user)}\n`).join('')

    test('is a line for each user, the same users as in JSON', async () => {
      await create()
      const { headers, text, json } = await service().send('GET /users', LINES)
      expect([headers['content-type'], headers['vary']]).toEqual(['application/x-ndjson', 'Accept'])
      expect(json).toEqual((await get('/users')).json)
      expect(text).toBe(asLines(json))
    })

    test('goes with every parameter', async () => {
      const [{ id }, ada, grace] = [await create(), await create(), await create()]
      expect(await lines(`/users?after=${id}`)).toBe(asLines([ada, grace]))
      expect(await lines(`/users?email=${ada.email}`)).toBe(asLines([ada]))
      expect(await lines('/users?email=')).toBe('')
      expect(await lines(`/users?after=${LAST}`)).toBe('')
      const { headers, text } = await service().send(`GET /users?limit=1&after=${id}`, LINES)
      expect(text).toBe(asLines([ada]))
      expect(next(headers as { link?: string })).toContain(ada.id)
    })

    test('breaks no line, whatever the texts', async () => {
      const text = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc
          .array(
            fc.constantFrom('}', ',', '{', '"', 'id', ':', '\\', '\n', '\u2028', '[', ']', '\0'),
          )
          .map((parts) => parts.join('')),
        fc.constantFrom('},{', '"},{"', '},{"id":', '"},{"id":"', '\\"},{"id":', '\n', '\r\n'),
      )
      const users = fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 5 })
      const property = fc.asyncProperty(users, async (pairs) => {
        const { id } = await create()
        const made = []
        for (const [name, email] of pairs) {
          made.push(await create(name, (await store().findByEmail(email)) ? '' : email))
        }
        expect(await lines(`/users?after=${id}`)).toBe(asLines(made))
      })
      await fc.assert(property, { numRuns: 50 })
    })

    test.each([
      ['application/x-ndjson', true],
      ['application/x-ndjson;q=0.5', true],
      ['Application/X-NDJSON', true],
      ['application/x-ndjson, application/json', true],
      ['application/json;q=0.5, application/x-ndjson', true],
      ['text/html, application/x-ndjson, */*;q=0.1', true],
      ['application/json, application/x-ndjson', false],
      ['application/json, application/x-ndjson;q=0.9', false],
      ['application/x-ndjson;q=0', false],
      ['*/*', false],
      ['application/*', false],
      ['text/html', false],
      ['application/json', false],
      ['', false],
      [';;;,,/', false],
    ])('is what Accept: %s asks for: %s', async (accept, is) => {
      const { status, headers } = await get('/users', { accept })
      const type = is ? 'application/x-ndjson' : 'application/json; charset=utf-8'
      expect([status, headers['content-type'], headers['vary']]).toEqual([200, type, 'Accept'])
    })

    test('is no form of a failure', async () => {
      const { status, json } = await service().send('GET /users?limit=0', LINES)
      expect([status, Object.keys(json)]).toEqual([400, ['message']])
    })
  })
})
