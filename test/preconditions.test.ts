// ETag, If-None-Match and If-Match: what names which user, and what then happens, on each store.
import { describe, expect, test } from '@jest/globals'
import { etagOf, ifMatch, ifNoneMatch } from '../src/preconditions.ts'
import type { UserStore } from '../src/store/user-store.ts'
import { startService, useService } from './support/service.ts'
import { describeStores, useStore } from './support/stores.ts'
import { newUser, user } from './support/users.ts'

const ABSENT = '665f1c2e8b3f4a0012d4ffff'
const ADA = user({ id: ABSENT, name: 'Ada' })
const ETAG = etagOf(ADA)

test('an ETag is strong, and differs for each id, name and email', () => {
  const others = [
    { ...ADA, id: ADA.id.replace('f', 'e') },
    { ...ADA, name: 'ada' },
    { ...ADA, name: '' },
    { ...ADA, name: 'Ad', email: `a${ADA.email}` },
    { ...ADA, email: '' },
  ]
  const etags = [ADA, ...others].map(etagOf)
  expect(new Set(etags).size).toBe(etags.length)
  for (const etag of etags) expect(etag).toMatch(/^"[\w-]{43}"$/)
  expect(etagOf({ ...ADA })).toBe(ETAG)
})

test.each([
  [ETAG, true, true],
  ['*', true, true],
  [`"x", ${ETAG}`, true, true],
  [`${ETAG},"x"`, true, true],
  [`, ,\t${ETAG} , `, true, true],
  [`"a,b" , ${ETAG}`, true, true],
  [`W/"x",${ETAG}`, true, true],
  [`"\u00e9", ${ETAG}`, true, true],
  [`W/${ETAG}`, false, true],
  [`W/${ETAG}, "x"`, false, true],
  ['"x"', false, false],
  ['""', false, false],
  ['', false, false],
  [',', false, false],
  [ETAG.toLowerCase(), false, false],
  [ETAG.slice(1, -1), false, false],
  [`w/${ETAG}`, false, false],
  [`W/ ${ETAG}`, false, false],
  [`${ETAG} x`, false, false],
  [`${ETAG}, x`, false, false],
  [`x, ${ETAG}`, false, false],
  [`${ETAG}${ETAG}`, false, false],
  [`${ETAG} ${ETAG}`, false, false],
  [`"x${ETAG}`, false, false],
  [`"a b", ${ETAG}`, false, false],
  [`*, ${ETAG}`, false, false],
  ['**', false, false],
  ['"*"', false, false],
])('the field %s names the ETag strongly: %s, weakly: %s', (field, strongly, weakly) => {
  expect([ifMatch(field, ETAG), ifNoneMatch(field, ETAG)]).toEqual([strongly, weakly])
})

test.each([',', ' ', ' ,', '"', '""', '"",', 'W/', `${ETAG},`])(
  'a field full of %s is read quickly',
  (part) => expect(ifMatch(part.repeat(100_000 / part.length), '"y"')).toBe(false),
)

describeStores((place) => {
  const store = useStore(place)
  const service = useService(store)
  const create = (name = 'Ada') => store().create(newUser({ name }))
  const ask = (line: string, headers = {}, json?: object) =>
    service().send(line, { headers, ...(json && { json }) })
  const etag = async (id: string) => (await ask(`GET /users/${id}`)).headers.etag!

  describe('GET of a user', () => {
    test('has an ETag that changes with the name, and changes back with it', async () => {
      const { id } = await create('a')
      const first = await etag(id)
      expect(await etag(id)).toBe(first)
      await store().rename(id, 'b')
      expect(await etag(id)).not.toBe(first)
      await store().rename(id, 'a')
      expect(await etag(id)).toBe(first)
    })

    test('is 304 without a body when If-None-Match names the user', async () => {
      const { id } = await create()
      const tag = await etag(id)
      for (const method of ['GET', 'HEAD']) {
        for (const field of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
          const headers = { 'if-none-match': field, 'cache-control': 'no-cache' } // as fetch sends it
          const answer = await ask(`${method} /users/${id}`, headers)
          expect([answer.status, answer.text, answer.headers.etag]).toEqual([304, '', tag])
        }
      }
    })

    test('is 200 when If-None-Match names another user, and 404 when there is no user', async () => {
      const { id } = await create()
      const tag = await etag(id)
      await store().rename(id, 'Grace')
      for (const field of [tag, '"x"', 'nonsense', '']) {
        const { status, json } = await ask(`GET /users/${id}`, { 'if-none-match': field })
        expect([status, json.name]).toEqual([200, 'Grace'])
      }
      expect((await ask(`GET /users/${ABSENT}`, { 'if-none-match': '*' })).status).toBe(404)
    })
  })

  describe.each([
    ['PUT', { name: 'Grace' }],
    ['DELETE', undefined],
  ])('%s of a user', (method, json) => {
    const line = (id: string) => `${method} /users/${id}`
    const write = async (id: string, field: string) =>
      (await ask(line(id), { 'if-match': field }, json)).status

    test('is done when If-Match names the user as it is', async () => {
      const fields = [(tag: string) => tag, (tag: string) => `"x", ${tag}`, () => '*']
      for (const field of fields) {
        const user = await create()
        expect(await write(user.id, field(await etag(user.id)))).toBe(204)
        expect((await store().find(user.id))?.name).toBe(json?.name)
      }
    })

    test('is 412, changes nothing and says why when If-Match names others or is malformed', async () => {
      const user = await create()
      const tag = await etag(user.id)
      const malformed = 'If-Match must be `*` or ETags in double quotes, such as `"abc"`'
      const failed = 'the precondition in If-Match or If-None-Match failed'
      for (const [message, fields] of [
        [malformed, [tag.slice(1, -1), 'nonsense', '', `${tag} x`]],
        [failed, ['"x"', `W/${tag}`]],
      ] as const) {
        for (const field of fields) {
          const { status, json: error } = await ask(line(user.id), { 'if-match': field }, json)
          expect([field, status, error]).toEqual([field, 412, { message }])
        }
      }
      expect(await store().find(user.id)).toEqual(user)
    })

    test('is 412 and changes nothing when If-None-Match names the user, and done when it names others', async () => {
      const user = await create()
      const tag = await etag(user.id)
      const put = async (headers: object, id = user.id) =>
        (await ask(line(id), headers, json)).status
      for (const field of ['*', tag, `W/${tag}`, `"x", ${tag}`]) {
        expect(await put({ 'if-none-match': field })).toBe(412)
        expect(await put({ 'if-none-match': field, 'if-match': tag })).toBe(412)
      }
      expect(await put({ 'if-none-match': '"x"', 'if-match': '"x"' })).toBe(412)
      expect(await put({ 'if-none-match': '*' }, ABSENT)).toBe(404)
      expect(await store().find(user.id)).toEqual(user)
      expect(await put({ 'if-none-match': '"x"', 'if-match': tag })).toBe(204)
      const other = await create()
      expect(await put({ 'if-none-match': '"x"' }, other.id)).toBe(204)
    })

    test('is 412 when the user has changed meanwhile, and 404 when the user was deleted', async () => {
      const { id } = await create()
      const tag = await etag(id)
      await store().rename(id, 'Augusta')
      expect(await write(id, tag)).toBe(412)
      await store().remove(id)
      for (const field of [tag, '*', 'nonsense']) expect(await write(id, field)).toBe(404)
    })

    test('is done, or 412 in the end, when others change the user and change it back', async () => {
      for (const times of [3, Infinity]) {
        const status = times === 3 ? 204 : 412
        const user = await create()
        const service = await startService(restless(store(), user.name, times))
        const headers = { 'if-match': await etag(user.id) }
        const answer = await service.send(line(user.id), { headers, json })
        await service.close()
        expect(answer.status).toBe(status)
        const name = status === 412 ? user.name : json?.name
        expect((await store().find(user.id))?.name).toBe(name)
      }
    })
  })

  test('PUT returns 400 for an invalid body before anything else', async () => {
    const { id } = await create()
    for (const one of [id, ABSENT]) {
      expect((await ask(`PUT /users/${one}`, { 'if-match': '"x"' }, {})).status).toBe(400)
    }
  })
})

/** `store`, where the user has another name during each of the first `times` writes. */
function restless(store: UserStore, name: string, times: number): UserStore {
  let writes = 0
  async function during(id: string, write: () => Promise<boolean>): Promise<boolean> {
    writes += 1
    if (writes > times) return write()
    await store.rename(id, 'another')
    const isDone = await write()
    await store.rename(id, name)
    return isDone
  }
  return {
    ...store,
    rename: (id, to, ifName) => during(id, () => store.rename(id, to, ifName)),
    remove: (id, ifName) => during(id, () => store.remove(id, ifName)),
  }
}
