// A client of users that means no harm.
import { expect } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { send } from './service.ts'
import { newUser } from './users.ts'

/** What a client does that means no harm; each response is what it should be. */
export async function useOrdinarily(port: number): Promise<void> {
  const fields = newUser({ email: `${randomUUID()}@example.com` })
  const made = await send(port, 'POST /users', { json: fields })
  const { id } = made.json
  expect([made.status, made.json]).toEqual([201, { id, ...fields }])
  expect((await send(port, `GET /users/${id}`)).json).toEqual(made.json)
  expect((await send(port, 'POST /login', { json: { email: fields.email } })).status).toBe(200)
  expect((await send(port, 'GET /users?limit=1')).status).toBe(200)
  expect((await send(port, `DELETE /users/${id}`)).status).toBe(204)
  expect((await send(port, `GET /users/${id}`)).status).toBe(404)
}
