// ETag, If-None-Match and If-Match: what names which user, and what then happens, on each store.
import { describe, expect, test } from '@jest/globals'
import { etagOf, ifMatch, ifNoneMatch } from '../src/preconditions.ts'
import { useService } from './support/service.ts'
import { describeStores, useStore } from './support/stores.ts'
import { newUser, user } from './support/users.ts'

const ABSENT = '665f1c2e8b3f4a0012d4ffff'
const ADA = user({ id: ABSENT, name: 'Ada' })
const ETAG = etagOf(ADA)

test('an ETag differs for each id, name and email', () => {
  const others = [
    { ...ADA, id: ADA.id.replace('f', 'e') },
    { ...ADA, name: 'ada' },
    { ...ADA, name: 'Ad', email: `a${ADA.email}` },
  ]
  expect(new Set([ADA, ...others].map(etagOf)).size).toBe(1 + others.length)
  expect(etagOf({ ...ADA })).toBe(ETAG)
})

test.each([
  [ETAG, true, true],
  ['*', true, true],
  [`, ,\t"a,b" , ${ETAG} , `, true, true],
  [`W/${ETAG}`, false, true],
  [ETAG.slice(1, -1), false, false],
  [`w/${ETAG}`, false, false],
  [`${ETAG} x`, false, false],
  [`"a b", ${ETAG}`, false, false],
  [`*, ${ETAG}`, false, false],
])('the field %s names the ETag strongly: %s, weakly: %s', (field, strongly, weakly) => {
  expect([ifMatch(field, ETAG), ifNoneMatch(field, ETAG)]).toEqual([strongly, weakly])
})

test.each([' ,', '"', 'W/', `${ETAG},`])('a field full of %s is read quickly', (part) =>
  expect(ifMatch(part.repeat(100_000 / part.length), '"y"')).toBe(false),
)

describeStores((place) => {
  const store = useStore(place)
  const service = useService(store)
  const create = (name = 'Ada') => store().create(newUser({ name }))
  const ask = (line: string, headers = {}, json?: object) =>
    service().send(line, { headers, ...(json && { json }) })
  const etag = async (id: string) => (await ask(`GET /users/${id}`)).headers.etag!

  test('GET is 304 without a body when If-None-Match names the user', async () => {
    const { id } = await create()
    const tag = await etag(id)
    for (const method of ['GET', 'HEAD']) {
      for (const field of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
        const headers = { 'if-none-match': field, 'cache-control': 'no-cache' } // as fetch sends it
        const response = await ask(`${method} /users/${id}`, headers)
        expect([response.status, response.text, response.headers.etag]).toEqual([304, '', tag])
      }
    }
  })

  test('GET is 200 when If-None-Match names another user, and 404 when there is no user', async () => {
    const { id } = await create()
    const tag = await etag(id)
    await store().rename(id, 'Grace')
    for (const field of [tag, '"x"', 'nonsense', '']) {
      const { status, json } = await ask(`GET /users/${id}`, { 'if-none-match': field })
      expect([status, json.name]).toEqual([200, 'Grace'])
    }
    expect((await ask(`GET /users/${ABSENT}`, { 'if-none-match': '*' })).status).toBe(404)
  })

  test('GET is 412 when If-Match does not name the user, and 404 when there is no user', async () => {
    const { id } = await create()
    for (const field of ['"x"', 'x'])
      expect((await ask(`GET /users/${id}`, { 'if-match': field })).status).toBe(412)
    expect((await ask(`GET /users/${ABSENT}`, { 'if-match': 'x' })).status).toBe(404)
  })

  describe.each([
    ['PUT', { name: 'Grace' }],
    ['DELETE', undefined],
  ])('%s of a user', (method, json) => {
    const write = (id: string, headers: object) => ask(`${method} /users/${id}`, headers, json)
    const status = async (id: string, headers: object) => (await write(id, headers)).status

    test.each(['ETAG', '"x", ETAG', '*'])('is done when If-Match is %s', async (field) => {
      const { id } = await create()
      const headers = { 'if-match': field.replace('ETAG', await etag(id)) }
      expect(await status(id, headers)).toBe(204)
      expect((await store().find(id))?.name).toBe(json?.name)
    })

    test('is 412, changes nothing and says why when If-Match names others', async () => {
      const user = await create()
      const tag = await etag(user.id)
      const weak = {
        message:
          'If-Match never matches a weak ETag (`W/`): turn off compression in the proxy that made it weak',
        code: 'etag_weak',
      }
      const failed = {
        message: 'the precondition in If-Match or If-None-Match failed',
        code: 'precondition_failed',
      }
      const fields = { [`W/${tag}`]: weak, [`"x", W/"y"`]: weak, '"x", "W/"': failed }
      for (const [field, refusal] of Object.entries(fields)) {
        const response = await write(user.id, { 'if-match': field })
        expect([response.status, response.json]).toEqual([412, refusal])
      }
      expect(await store().find(user.id)).toEqual(user)
    })

    test.each(['If-Match', 'If-None-Match'])(
      'is 400, changes nothing and says why when %s is malformed, before the user is looked up',
      async (name) => {
        const user = await create()
        const message = `${name} must be \`*\` or ETags in double quotes, such as \`"abc"\``
        const refusal = { message, code: 'precondition_malformed' }
        for (const field of ['', ETAG.slice(1, -1), '"x" "y"', 'W/x', '"x", *'])
          for (const id of [user.id, ABSENT, 'x']) {
            const response = await write(id, { 'if-match': '*', [name]: field })
            expect([response.status, response.json]).toEqual([400, refusal])
          }
        expect(await store().find(user.id)).toEqual(user)
      },
    )

    test('is 412 and changes nothing when If-None-Match names the user, and done when it names others', async () => {
      const user = await create()
      const tag = await etag(user.id)
      for (const field of ['*', `W/${tag}`]) {
        expect(await status(user.id, { 'if-none-match': field })).toBe(412)
        expect(await status(user.id, { 'if-none-match': field, 'if-match': tag })).toBe(412)
      }
      expect(await status(user.id, { 'if-none-match': '"x"', 'if-match': '"x"' })).toBe(412)
      expect(await status(ABSENT, { 'if-none-match': '*' })).toBe(404)
      expect(await store().find(user.id)).toEqual(user)
      expect(await status(user.id, { 'if-none-match': '"x"', 'if-match': tag })).toBe(204)
      expect(await status((await create()).id, { 'if-none-match': '"x"' })).toBe(204)
    })

    test('is 412 when the user has changed meanwhile, and 404 when the user was deleted', async () => {
      const { id } = await create()
      const tag = await etag(id)
      await store().rename(id, 'Augusta')
      expect(await status(id, { 'if-match': tag })).toBe(412)
      await store().remove(id)
      for (const field of [tag, '*', 'W/"x"']) {
        expect(await status(id, { 'if-match': field })).toBe(404)
      }
    })
  })

  test('PUT checks its body before the form of its preconditions', async () => {
    const { json } = await ask(`PUT /users/${ABSENT}`, { 'if-match': 'x' }, {})
    expect(json.code).toBe('body_invalid')
  })

  describe('PUT with If-Match of a user that already has the name', () => {
    const rename = (id: string, headers: object) =>
      ask(`PUT /users/${id}`, headers, { name: 'Grace' })

    test('is 204, so that a client can send it again when no response came, also before the first is done', async () => {
      const { id } = await create()
      const headers = { 'if-match': await etag(id) }
      for (let times = 0; times < 2; times += 1)
        for (const { status } of await Promise.all([rename(id, headers), rename(id, headers)]))
          expect(status).toBe(204)
      expect((await store().find(id))?.name).toBe('Grace')
    })

    test('is 412 when the user was changed again since, or If-None-Match names the user', async () => {
      const { id } = await create()
      const old = await etag(id)
      const refused = async (headers: object) => (await rename(id, headers)).status
      await store().rename(id, 'Augusta')
      expect(await refused({ 'if-match': old })).toBe(412)
      await store().rename(id, 'Grace')
      expect(await refused({ 'if-match': old, 'if-none-match': '*' })).toBe(412)
    })
  })
})
