// The service at a path of a proxy: with BASE_PATH its links work, and the guard sees what is outside. (The contract with
// this server, and what a 404 says: chassis/docs/reference.test.ts and chassis/app.test.ts.)
import { expect, test } from '@jest/globals'
import { parseResponses } from './chassis/support/app.ts'
import { AUTHORIZATION, CLOSE, get, post } from './chassis/support/requests.ts'
import { useService } from './support/service.ts'
import { sqlitePlace, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

const store = useStore(sqlitePlace)
const services = { '/api': useService(store, '/api'), '/users': useService(store, '/users') }

/** The response to the last request on a connection. */
const ask = async (basePath: keyof typeof services, request: string) =>
  parseResponses(await services[basePath]().exchange(request))[0]!

test('Location and Link begin with BASE_PATH, and the log has the Location', async () => {
  const made = await ask('/api', post(JSON.stringify(newUser()), CLOSE, '/api/users'))
  const location = `/api/users/${JSON.parse(made.text).id}`
  expect(made.headers.location).toBe(location)
  expect(services['/api']().lines.at(-1)).toMatchObject({ method: 'POST', location })
  await store().create(newUser())
  const { headers, text } = await ask('/api', get('/api/users?limit=1', CLOSE))
  expect(headers.link).toBe(`</api/users?limit=1&after=${JSON.parse(text)[0].id}>; rel="next"`)
})

test.each([
  ['/api', '/api/users', 401, 200],
  ['/users', '/users/docs', 200, 200],
  ['/users', '/users', 404, 404],
  ['/users', '/users/users', 401, 200],
] as const)('with BASE_PATH=%s, GET %s is %i, and with a token %i', async (...row) => {
  const [basePath, path, without, withToken] = row
  const request = get(path, CLOSE)
  expect((await ask(basePath, request.replace(AUTHORIZATION, ''))).status).toBe(without)
  expect((await ask(basePath, request)).status).toBe(withToken)
})
