// The operations under /users on each store. (GET /users: users.list.test.ts; bodies that are refused:
// contract/body.test.ts; conditional requests: preconditions.test.ts.)
import { expect, test } from '@jest/globals'
import type { User } from '../src/store/user-store.ts'
import { useService, type Request } from './support/service.ts'
import { describeStores, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

const ABSENT = '665f1c2e8b3f4a0012d4ffff'
const JSON_TYPE = { 'content-type': 'application/json' }

describeStores((place) => {
  const service = useService(useStore(place))
  const send = (line: string, request?: Request) => service().send(line, request)
  const create = async (): Promise<User> => (await send('POST /users', { json: newUser() })).json
  const read = async (id: string) => (await send(`GET /users/${id}`)).json

  test('POST /users returns 201 with the user and its location', async () => {
    const user = newUser()
    const { status, headers, json } = await send('POST /users', { json: user })
    expect([status, json]).toEqual([201, { id: expect.any(String), ...user }])
    expect(headers.location).toBe(`/users/${json.id}`)
    expect(await read(json.id)).toEqual(json)
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
  ])('POST /users accepts %s', async (_, body, stored) => {
    const { status, json } = await send('POST /users', { body, headers: JSON_TYPE })
    expect([status, json]).toEqual([201, expect.objectContaining(stored)])
    expect(json.id).not.toBe(ABSENT)
    expect(await read(json.id)).toEqual(json)
  })

  test('GET, PUT and DELETE read a user, rename it, also to spaces, change nothing else, and delete it', async () => {
    const ada = await create()
    const json = { name: '  ', email: 'other@example.com', id: ABSENT, admin: true }
    expect((await send(`PUT /users/${ada.id}`, { json })).status).toBe(204)
    expect(await read(ada.id)).toEqual({ ...ada, name: '  ' })
    expect((await send(`DELETE /users/${ada.id}`)).status).toBe(204)
    for (const method of ['GET', 'DELETE']) {
      expect((await send(`${method} /users/${ada.id}`)).status).toBe(404)
    }
  })

  test('GET, PUT and DELETE return 404 for anything that is not the id of a user', async () => {
    const { id } = await create()
    const encoded = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`
    const forms = ['abc', '7', '%00', '%zz', '..', '$ne', "'%20OR%201=1", id.slice(1), encoded]
    for (const other of [ABSENT, ABSENT.toUpperCase(), ...forms, `${id}%00`, `${id}a`]) {
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const json = method === 'PUT' ? { name: 'x' } : undefined
        const { status } = await send(`${method} /users/${other}`, { json })
        expect([other, status]).toEqual([other, 404])
      }
    }
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
