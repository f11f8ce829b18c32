// Requests at the same moment: only the outcomes that some order explains. On MongoDB two services race.
// CHAOS=1 makes it 100 rounds.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openStore } from '../src/store/open.ts'
import type { UserStore } from '../src/store/user-store.ts'
import { times } from './support/chaos.ts'
import { startService, tokens, type Service } from './support/service.ts'
import { describeStores, type Place } from './support/stores.ts'

const ROUNDS = times(20, 100)
const RACERS = 200

describeStores((kind) => {
  let place: Place
  const stores: UserStore[] = []
  const services: Service[] = []

  beforeAll(async () => {
    place = kind()
    for (let i = 0; i < (place.mongodbUri ? 2 : 1); i += 1) {
      stores.push(await openStore(place))
      services.push(await startService(stores[i]!))
    }
  })

  afterAll(async () => {
    for (const service of services) await service.close()
    for (const store of stores) await store.close()
    await place.remove()
  })

  const headers = {
    authorization: `Bearer ${tokens.issue('x')}`,
    'content-type': 'application/json',
  }

  /** Sends a request to one of the services, another one each time. @returns status and body */
  async function ask(line: string, json?: object): Promise<[number, string]> {
    const [method, path] = line.split(' ')
    services.push(services.shift()!)
    const url = `http://127.0.0.1:${services[0]!.port}${path}`
    const body = json ? JSON.stringify(json) : null
    const response = await fetch(url, { method: method!, headers, body })
    return [response.status, await response.text()]
  }

  const create = async (email: string): Promise<string> =>
    JSON.parse((await ask('POST /users', { name: 'Ada', email }))[1]).id

  test(`of ${RACERS} simultaneous POSTs of one email one makes a user, in each of ${ROUNDS} rounds`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const user = { name: 'Ada', email: `post-${round}@example.com` }
      const answers = await Promise.all(
        Array.from({ length: RACERS }, () => ask('POST /users', user)),
      )
      const refusal = { message: `a user with email \`${user.email}\` already exists` }
      const refused = answers.filter(([status]) => status !== 201)
      expect(refused).toEqual(refused.map(() => [400, JSON.stringify(refusal)]))
      expect(refused).toHaveLength(RACERS - 1)
    }
    const users = JSON.parse((await ask('GET /users'))[1]) as { email: string }[]
    expect(users.map(({ email }) => email).sort()).toEqual(
      Array.from({ length: ROUNDS }, (_, round) => `post-${round}@example.com`).sort(),
    )
  })

  test('a rename that meets a delete has its user or none', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = await create('')
      const [[renamed], [first], [second]] = await Promise.all([
        ask(`PUT /users/${id}`, { name: 'Grace' }),
        ask(`DELETE /users/${id}`),
        ask(`DELETE /users/${id}`),
      ])
      expect([204, 404]).toContain(renamed)
      expect([first, second].sort()).toEqual([204, 404])
      expect((await ask(`GET /users/${id}`))[0]).toBe(404)
    }
  })

  test('a POST that meets the delete of its email is refused or makes a user', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const email = `delete-${round}@example.com`
      const id = await create(email)
      const [[created], [deleted]] = await Promise.all([
        ask('POST /users', { name: 'Grace', email }),
        ask(`DELETE /users/${id}`),
      ])
      expect(deleted).toBe(204)
      expect([201, 400]).toContain(created)
      expect((await ask('POST /login', { email }))[0]).toBe(created === 201 ? 200 : 401)
    }
  })
})
