// Each operation under /users end to end on each store, as the specification describes it. (GET /users:
// users.list.test.ts; any values and orders: app.model.test.ts; bodies that any operation refuses: contract/body.test.ts.)
import { expect, test } from '@jest/globals'
import { CALLER } from '../src/auth/guard.ts'
import type { User } from '../src/store/user-store.ts'
import { useService } from './support/service.ts'
import type { Request } from './chassis/support/app.ts'
import { describeStores, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

const ABSENT = '665f1c2e8b3f4a0012d4ffff'

describeStores((place) => {
  const service = useService(useStore(place))
  const send = (line: string, request?: Request) => service().send(line, request)
  const create = async (): Promise<User> => (await send('POST /users', { json: newUser() })).json

  test('a user is created, read, renamed to spaces, and deleted; nothing else changes', async () => {
    const json = newUser()
    const made = await send('POST /users', { json: { ...json, id: ABSENT, admin: true } })
    const ada = made.json
    expect([made.status, ada]).toEqual([201, { id: expect.not.stringMatching(ABSENT), ...json }])
    const path = `/users/${ada.id}`
    expect(made.headers.location).toBe(path)
    const read = await send(`GET ${path}`)
    expect([read.json, read.headers.etag]).toEqual([ada, made.headers.etag])
    const change = { name: '  ', email: 'other@example.com', id: ABSENT, admin: true }
    expect((await send(`PUT ${path}`, { json: change })).status).toBe(204)
    expect((await send(`GET ${path}`)).json).toEqual({ ...ada, name: '  ' })
    expect((await send(`DELETE ${path}`)).status).toBe(204)
    for (const method of ['GET', 'DELETE', 'PUT'])
      expect((await send(`${method} ${path}`, { json: { name: 'x' } })).status).toBe(404)
  })

  test('the log says who created and who deleted a user', async () => {
    const { id } = await create()
    await send(`DELETE /users/${id}`)
    const [created, deleted] = service().lines.slice(-2)
    const caller = '665f1c2e8b3f4a0012d4c001'
    expect(created).toMatchObject({ method: 'POST', [CALLER]: caller, location: `/users/${id}` })
    expect(deleted).toMatchObject({ method: 'DELETE', [CALLER]: caller, path: `/users/${id}` })
  })
})
