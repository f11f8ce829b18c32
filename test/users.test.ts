// The operations under /users on each store. (GET /users: users.list.test.ts; bodies that are refused:
// contract/body.test.ts; conditional requests: http/preconditions.test.ts.)
import { describe, expect, test } from '@jest/globals'
import { contract } from '../src/contract/document.ts'
import type { components } from '../src/contract/openapi.ts'
import { useService, type Request } from './support/service.ts'
import { describeStores, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

const ABSENT = '665f1c2e8b3f4a0012d4ffff'
const JSON_TYPE = { 'content-type': 'application/json' }

type UserFields = components['schemas']['UserFields']
interface Schema {
  type?: string | string[]
  enum?: unknown[]
  example?: unknown
}
const { User, UserFields } = (contract as unknown as { components: { schemas: Any } }).components
  .schemas
type Any = any // eslint-disable-line -- what the contract says of users

const byId = (id: string) => ({ params: { path: { id } } })

/** A value that a field of this schema can have. */
function valueOf(field: string, { type, enum: values, example }: Schema): unknown {
  if (example !== undefined || values) return example ?? values![0]
  return [type].flat().includes('string') ? `its ${field}` : [type].flat().includes('boolean') || 7
}

describeStores((place) => {
  const service = useService(useStore(place))
  const send = (line: string, request?: Request) => service().send(line, request)
  const users = () => service().users
  const create = async (body: UserFields) => (await users().POST('/users', { body })).data!
  const read = async (id: string) => (await users().GET('/users/{id}', byId(id))).data

  describe('a field that openapi.yaml gives a user', () => {
    const given = Object.fromEntries(
      Object.entries<Schema>(User.properties)
        .filter(([field]) => field in UserFields.properties)
        .map(([field, schema]) => [field, valueOf(field, schema)]),
    )

    test.each(Object.keys(User.properties))(
      'comes back from POST, GET and the list: %s',
      async (field) => {
        const { json: made } = await send('POST /users', { json: given })
        const one = await send(`GET /users/${made.id}`)
        const page = await send(`GET /users`)
        const lines = await send('GET /users', { headers: { accept: 'application/x-ndjson' } })
        await users().DELETE('/users/{id}', byId(made.id))
        const expected = field in given ? given[field] : made[field]
        expect(expected).toBeDefined()
        for (const user of [made, one.json, page.json.at(-1), lines.json.at(-1)]) {
          expect({ [field]: user[field] }).toEqual({ [field]: expected })
        }
      },
    )
  })

  describe('POST /users', () => {
    test('returns 201 with the user and its location', async () => {
      const body = newUser()
      const { response, data } = await users().POST('/users', { body })
      expect([response.status, data]).toEqual([201, { id: expect.any(String), ...body }])
      expect(response.headers.get('location')).toBe(`/users/${data!.id}`)
      expect(await read(data!.id)).toEqual(data)
    })

    test.each([
      ['no fields', '{}', { name: '', email: '' }],
      ['null', '{"name":null,"email":null}', { name: '', email: '' }],
      ['empty strings', '{"name":"","email":""}', { name: '', email: '' }],
      ['numbers', '{"name":0,"email":-1.5}', { name: '0', email: '-1.5' }],
      ['booleans', '{"name":true,"email":false}', { name: 'true', email: 'false' }],
      ['unknown fields', '{"name":"x","admin":true,"constructor":{}}', { name: 'x' }],
      ['a field named __proto__', '{"name":"x","__proto__":{"email":"e"}}', { email: '' }],
      ['an id, which is ignored', `{"id":"${ABSENT}","name":"x"}`, { name: 'x' }],
    ])('accepts %s', async (_, body, stored) => {
      const { status, json: made } = await send('POST /users', { body, headers: JSON_TYPE })
      expect([status, made]).toEqual([201, expect.objectContaining(stored)])
      expect(made.id).not.toBe(ABSENT)
      expect(Object.keys(made).sort()).toEqual(Object.keys(User.properties).sort())
      expect(await read(made.id)).toEqual(made)
      await users().DELETE('/users/{id}', byId(made.id))
    })
  })

  describe('GET, PUT and DELETE /users/{id}', () => {
    test('read, rename and delete a user', async () => {
      const ada = await create(newUser())
      expect(await read(ada.id)).toEqual(ada)
      const body = { name: 'Augusta', email: 'other@example.com', id: ABSENT, admin: true }
      const renamed = await users().PUT('/users/{id}', { ...byId(ada.id), body })
      expect(renamed.response.status).toBe(204)
      expect(await read(ada.id)).toEqual({ ...ada, name: 'Augusta' })
      const deleted = await users().DELETE('/users/{id}', byId(ada.id))
      expect(deleted.response.status).toBe(204)
      for (const { response, error } of [
        await users().GET('/users/{id}', byId(ada.id)),
        await users().DELETE('/users/{id}', byId(ada.id)),
      ]) {
        expect([response.status, error]).toEqual([404, { message: 'no user has this id' }])
      }
    })

    test('accept a name of spaces, which is not empty', async () => {
      const { id } = await create(newUser())
      const { error } = await users().PUT('/users/{id}', { ...byId(id), body: { name: '  ' } })
      expect([error, (await read(id))!.name]).toEqual([undefined, '  '])
    })

    test('return 404 for anything that is not the id of a user', async () => {
      const { id } = await create(newUser())
      const encoded = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`
      const forms = ['abc', '7', '%00', '%zz', '..', '$ne', "'%20OR%201=1", id.slice(1), encoded]
      for (const other of [ABSENT, ABSENT.toUpperCase(), ...forms, `${id}%00`, `${id}a`]) {
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const json = method === 'PUT' ? { name: 'x' } : undefined
          const { status, json: error } = await send(`${method} /users/${other}`, { json })
          expect([other, status, error]).toEqual([other, 404, { message: 'no user has this id' }])
        }
      }
    })
  })

  test('only GET /users reads its query', async () => {
    const json = newUser()
    const made = await send('POST /users?limit=x&$where=1&%zz', { json })
    expect(made.status).toBe(201)
    const path = `/users/${made.json.id}?limit=x`
    expect((await send(`GET ${path}`)).json).toEqual(made.json)
    expect((await send(`PUT ${path}`, { json: { name: 'x' } })).status).toBe(204)
    expect((await send('POST /login?email=x', { json: { email: json.email } })).status).toBe(200)
    expect((await send(`DELETE ${path}`)).status).toBe(204)
  })
})
