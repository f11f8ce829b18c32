// Simultaneous requests to two services with the same data: only outcomes that some order explains.
import { expect, test } from '@jest/globals'
import type { User } from '../src/store/user-store.ts'
import { useTwoServices } from './support/service.ts'
import { describeStores } from './support/stores.ts'
import { newUser } from './support/users.ts'

const ROUNDS = 2
const CREATORS = 40

describeStores((kind) => {
  const services = useTwoServices(kind)
  let sent = 0
  /** Sends a request to the services in turn. */
  const send = (line: string, json?: object, headers = {}) =>
    services[(sent += 1) % 2]!.send(line, { ...(json && { json }), headers })
  const statusOf = async (...request: Parameters<typeof send>) => (await send(...request)).status
  const create = async (): Promise<User> => (await send('POST /users', newUser())).json

  test('clients that read, change and try again after a 412 lose no update', async () => {
    const { id } = await create()
    await send(`PUT /users/${id}`, { name: '0' })
    // Each writes another name: two that write the same one both succeed.
    const increment = async (client: number): Promise<void> => {
      const { headers, json } = await send(`GET /users/${id}`)
      const name = `${parseInt(json.name) + 1} by ${client}`
      const condition = { 'if-match': headers.etag! }
      const status = await statusOf(`PUT /users/${id}`, { name }, condition)
      if (status === 412) return increment(client)
      expect(status).toBe(204)
    }
    const clients = 10
    await Promise.all(Array.from({ length: clients }, (_, client) => increment(client)))
    expect(parseInt((await send(`GET /users/${id}`)).json.name)).toBe(clients)
  })

  test('of many PUTs under a condition that all meet, each gets 204, or 412 if others overtake it', async () => {
    const { id } = await create()
    const put = (_: unknown, i: number) =>
      statusOf(`PUT /users/${id}`, { name: `${i}` }, { 'if-none-match': '"a"' })
    const statuses = await Promise.all(Array.from({ length: CREATORS }, put))
    expect(new Set([...statuses, 204, 412])).toEqual(new Set([204, 412]))
    const { name } = (await send(`GET /users/${id}`)).json
    expect(statuses[Number(name)]).toBe(204)
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
})
