// Simultaneous requests to two services with the same data: only outcomes that some order explains.
import { expect, test } from '@jest/globals'
import type { User } from '../src/store/user-store.ts'
import { rounds } from './support/rounds.ts'
import { useTwoServices } from './support/service.ts'
import { describeStores } from './support/stores.ts'
import { newUser } from './support/users.ts'

const ROUNDS = rounds(3, 20)
const CREATORS = rounds(50, 200)

describeStores((kind) => {
  const services = useTwoServices(kind)
  let sent = 0
  /** Sends a request to the services in turn. */
  const send = (line: string, json?: object, headers = {}) =>
    services[(sent += 1) % 2]!.send(line, { ...(json && { json }), headers })
  const statusOf = async (...request: Parameters<typeof send>) => (await send(...request)).status
  const create = async (): Promise<User> => (await send('POST /users', newUser())).json

  test(`of ${CREATORS} POSTs with the same email one creates a user`, async () => {
    const emails: string[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const user = newUser()
      const requests = Array.from({ length: CREATORS }, () => send('POST /users', user))
      const refused = (await Promise.all(requests)).filter(({ status }) => status !== 201)
      const message = `a user with email \`${user.email}\` already exists`
      const text = JSON.stringify({ message, code: 'email_taken' })
      expect(refused).toHaveLength(CREATORS - 1)
      for (const response of refused) expect(response).toMatchObject({ status: 400, text })
      emails.push(user.email)
    }
    const users: User[] = (await send('GET /users')).json
    const found = users.map(({ email }) => email)
    expect(found.filter((email) => emails.includes(email))).toEqual(emails)
  })

  test('of two DELETEs one deletes the user, also during a PUT', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await create()
      const [renamed, ...deleted] = await Promise.all([
        statusOf(`PUT /users/${id}`, { name: 'Grace' }),
        statusOf(`DELETE /users/${id}`),
        statusOf(`DELETE /users/${id}`),
      ])
      expect([204, 404]).toContain(renamed)
      expect(deleted.sort()).toEqual([204, 404])
      expect(await statusOf(`GET /users/${id}`)).toBe(404)
    }
  })

  test('clients that read, change and try again after a 412 lose no update', async () => {
    const { id } = await create()
    await send(`PUT /users/${id}`, { name: '0' })
    // Each writes another name: two that write the same one both succeed.
    const increment = async (client: number): Promise<void> => {
      const { headers, json } = await send(`GET /users/${id}`)
      const name = `${parseInt(json.name) + 1} by ${client}`
      const condition = { 'if-match': headers.etag! }
      if ((await statusOf(`PUT /users/${id}`, { name }, condition)) !== 204)
        return increment(client)
    }
    const clients = rounds(10, 20)
    await Promise.all(Array.from({ length: clients }, (_, client) => increment(client)))
    expect(parseInt((await send(`GET /users/${id}`)).json.name)).toBe(clients)
  })

  test('of PUTs and DELETEs with the same If-Match one succeeds', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = await create()
      const { headers } = await send(`GET /users/${id}`)
      const condition = { 'if-match': headers.etag! }
      const statuses = await Promise.all([
        statusOf(`PUT /users/${id}`, { name: 'Grace' }, condition),
        statusOf(`DELETE /users/${id}`, undefined, condition),
        statusOf(`PUT /users/${id}`, { name: 'Augusta' }, condition),
        statusOf(`DELETE /users/${id}`, undefined, condition),
      ])
      const refused = statuses.filter((status) => [404, 412].includes(status))
      expect([statuses.includes(204), refused.length]).toEqual([true, 3])
      const isDeleted = statuses[1] === 204 || statuses[3] === 204
      expect(await statusOf(`GET /users/${id}`)).toBe(isDeleted ? 404 : 200)
    }
  })

  test('a POST during the DELETE of the user with that email creates a user or is refused', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id, email } = await create()
      const [created, deleted] = await Promise.all([
        statusOf('POST /users', newUser({ email })),
        statusOf(`DELETE /users/${id}`),
      ])
      expect(deleted).toBe(204)
      expect([201, 400]).toContain(created)
      expect(await statusOf('POST /login', { email })).toBe(created === 201 ? 200 : 401)
    }
  })
})
