// ETag, If-None-Match and If-Match: what names which user, and what then happens. (Conditional writes on each store:
// store/user-store.test.ts; the responses, and which fields are malformed: contract/examples.test.ts and header.test.ts.)
import { describe, expect, test } from '@jest/globals'
import { etagOf } from '../src/chassis/index.ts'
import { useService } from './support/service.ts'
import { sqlitePlace, useStore } from './support/stores.ts'
import { newUser, user } from './support/users.ts'

const ABSENT = '665f1c2e8b3f4a0012d4ffff'
const ADA = user({ id: ABSENT, name: 'Ada' })
const ETAG = etagOf(ADA)

const store = useStore(sqlitePlace)
const service = useService(store)
const create = (name = 'Ada') => store().create(newUser({ name }))
const ask = (line: string, headers = {}, json?: object) =>
  service().send(line, { headers, ...(json && { json }) })
const etag = async (id: string) => (await ask(`GET /users/${id}`)).headers.etag!

test('GET is 304 without a body when If-None-Match names the user', async () => {
  const { id } = await create()
  const tag = await etag(id)
  for (const method of ['GET', 'HEAD']) {
    const headers = { 'if-none-match': tag, 'cache-control': 'no-cache' } // as fetch sends it
    const response = await ask(`${method} /users/${id}`, headers)
    expect([response.status, response.text, response.headers.etag]).toEqual([304, '', tag])
  }
})

test('GET is 200 when If-None-Match names another user, and 404 when there is no user', async () => {
  const { id } = await create()
  for (const field of [ETAG, ''])
    expect((await ask(`GET /users/${id}`, { 'if-none-match': field })).status).toBe(200)
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
  const status = async (id: string, headers: object) =>
    (await ask(`${method} /users/${id}`, headers, json)).status

  test('is done when If-Match names the user and If-None-Match does not, else it is 412 and changes nothing', async () => {
    const user = await create()
    const tag = await etag(user.id)
    for (const headers of [
      { 'if-match': ETAG },
      { 'if-match': ETAG, 'if-none-match': ETAG },
      { 'if-none-match': `W/${tag}` },
      { 'if-none-match': '*', 'if-match': tag },
    ])
      expect([headers, await status(user.id, headers)]).toEqual([headers, 412])
    expect(await store().find(user.id)).toEqual(user)
    expect(await status(user.id, { 'if-none-match': ETAG, 'if-match': tag })).toBe(204)
    expect((await store().find(user.id))?.name).toBe(json?.name)
    expect(await status((await create()).id, { 'if-none-match': ETAG })).toBe(204)
  })

  test('is 404 when there is no user, and 400 before the user is looked up when a field is malformed', async () => {
    for (const field of [ETAG, '*', 'W/"x"'])
      expect(await status(ABSENT, { 'if-match': field })).toBe(404)
    for (const name of ['if-match', 'if-none-match'])
      expect(await status(ABSENT, { 'if-match': '*', [name]: 'x' })).toBe(400)
  })
})

test('PUT checks its body before the form of its preconditions', async () => {
  const { json } = await ask(`PUT /users/${ABSENT}`, { 'if-match': 'x' }, {})
  expect(json.code).toBe('body_invalid')
})

describe('PUT with If-Match of a user that already has the name', () => {
  const rename = async (id: string, headers: object) =>
    (await ask(`PUT /users/${id}`, headers, { name: 'Grace' })).status

  test('is 204, so that a client can send it again when no response came, also before the first is done', async () => {
    const { id } = await create()
    const headers = { 'if-match': await etag(id) }
    for (let times = 0; times < 2; times += 1)
      expect(await Promise.all([rename(id, headers), rename(id, headers)])).toEqual([204, 204])
    expect((await store().find(id))?.name).toBe('Grace')
  })

  test('is 412 when the user was changed again since, or If-None-Match names the user', async () => {
    const { id } = await create()
    const old = await etag(id)
    await store().rename(id, { name: 'Augusta' })
    expect(await rename(id, { 'if-match': old })).toBe(412)
    await store().rename(id, { name: 'Grace' })
    expect(await rename(id, { 'if-match': old, 'if-none-match': '*' })).toBe(412)
  })
})
