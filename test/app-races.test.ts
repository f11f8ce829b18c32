// Requests at the same moment: only the outcomes that some order explains. On MongoDB two services race.
// CHAOS=1 makes it 100 rounds.
import { expect, test } from '@jest/globals'
import { times } from './support/chaos.ts'
import { tokens, useReplicas } from './support/service.ts'
import { describeStores } from './support/stores.ts'

const ROUNDS = times(20, 100)
const RACERS = 200
const WRITERS = 20

describeStores((kind) => {
  const { services } = useReplicas(kind, ({ mongodbUri }) => (mongodbUri ? 2 : 1))

  const headers = {
    authorization: `Bearer ${tokens.issue('x')}`,
    'content-type': 'application/json',
  }

  /** Sends a request to one of the services, another one each time. */
  async function send(line: string, json?: object, more = {}): Promise<Response> {
    const [method, path] = line.split(' ')
    services.push(services.shift()!)
    const url = `http://127.0.0.1:${services[0]!.port}${path}`
    const body = json ? JSON.stringify(json) : null
    return fetch(url, { method: method!, headers: { ...headers, ...more }, body })
  }

  /** @returns status and body */
  async function ask(line: string, json?: object, more?: object): Promise<[number, string]> {
    const response = await send(line, json, more)
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

  const ifMatch = async (id: string) => {
    const response = await send(`GET /users/${id}`)
    await response.text()
    return { 'if-match': response.headers.get('etag')! }
  }
  const count = (answers: [number, string][], status: number) =>
    answers.filter(([one]) => one === status).length

  test(`of ${WRITERS} simultaneous PUTs with one If-Match one changes the user`, async () => {
    const id = await create('')
    for (let round = 0; round < ROUNDS; round += 1) {
      const condition = await ifMatch(id)
      const names = Array.from({ length: WRITERS }, (_, i) => `${round} ${i}`)
      const answers = await Promise.all(
        names.map((name) => ask(`PUT /users/${id}`, { name }, condition)),
      )
      expect([count(answers, 204), count(answers, 412)]).toEqual([1, WRITERS - 1])
      const { name } = JSON.parse((await ask(`GET /users/${id}`))[1])
      expect(answers[names.indexOf(name)]![0]).toBe(204)
    }
  })

  test('no update is lost of those who read, change and try again', async () => {
    const id = await create('')
    await ask(`PUT /users/${id}`, { name: '0' })
    const add = async (): Promise<void> => {
      const response = await send(`GET /users/${id}`)
      const { name } = (await response.json()) as { name: string }
      const condition = { 'if-match': response.headers.get('etag')! }
      const [status] = await ask(`PUT /users/${id}`, { name: `${Number(name) + 1}` }, condition)
      if (status !== 204) return add()
    }
    await Promise.all(Array.from({ length: ROUNDS }, add))
    expect(JSON.parse((await ask(`GET /users/${id}`))[1]).name).toBe(`${ROUNDS}`)
  })

  test('of PUTs and DELETEs with one If-Match one is done', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = await create('')
      const condition = await ifMatch(id)
      const answers = await Promise.all([
        ask(`PUT /users/${id}`, { name: 'Grace' }, condition),
        ask(`DELETE /users/${id}`, undefined, condition),
        ask(`PUT /users/${id}`, { name: 'Augusta' }, condition),
        ask(`DELETE /users/${id}`, undefined, condition),
      ])
      expect(count(answers, 204)).toBe(1)
      expect(count(answers, 404) + count(answers, 412)).toBe(3)
      const deleted = answers[1][0] === 204 || answers[3][0] === 204
      expect((await ask(`GET /users/${id}`))[0]).toBe(deleted ? 404 : 200)
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
