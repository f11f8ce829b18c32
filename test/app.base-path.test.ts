// The service at a path of a proxy: with BASE_PATH its links work, and only paths that begin with it exist.
import { describe, expect, test } from '@jest/globals'
import { load } from 'js-yaml'
import { read } from './support/readme.ts'
import { parseResponses } from './chassis/support/app.ts'
import { startService, useService } from './support/service.ts'
import { tokens } from './chassis/support/requests.ts'
import { sqlitePlace, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

const authorization = `Bearer ${tokens.issue('665f1c2e8b3f4a0012d4c001')}`

const store = useStore(sqlitePlace)
const service = useService(store, '/api')

/** A request with a valid token: its status, its headers and its JSON. */
async function ask(url: string, method = 'GET', json?: object) {
  const headers = { authorization, 'content-type': 'application/json' }
  const body = JSON.stringify(json)
  const response = await fetch(url, { method, headers, ...(json && { body }) })
  const text = await response.text()
  const { status } = response
  return { status, headers: response.headers, json: text && JSON.parse(text) }
}

const own = (path: string) => `http://127.0.0.1:${service().port}${path}`

/** The status of a request as it is written here, without a token or with `more` headers. */
async function statusOf(line: string, more = '', { exchange } = service()): Promise<number> {
  const head = `${line} HTTP/1.1\r\nHost: localhost\r\n${more}Connection: close\r\n\r\n`
  return parseResponses(await exchange(head))[0]!.status
}

const OUTSIDE =
  '/users /api/api/users //api/users /API/users /apiusers /api/../users /%61pi/users http://api/users'

describe('with BASE_PATH=/api', () => {
  test('Location and Link begin with /api', async () => {
    const created = await ask(own('/api/users'), 'POST', newUser())
    expect(created.headers.get('location')).toBe(`/api/users/${created.json.id}`)
    await store().create(newUser())
    const { headers, json } = await ask(own('/api/users?limit=1'))
    const link = `</api/users?limit=1&after=${json[0].id}>; rel="next"`
    expect(headers.get('link')).toBe(link)
  })

  test('the contract has this server, and no other change', async () => {
    const file = read('openapi.yaml')
    const yaml = await (await fetch(own('/api/openapi.yaml'))).text()
    expect(yaml).toBe(file.replace('\n  - url: /\n', '\n  - url: /api\n'))
    const { json } = await ask(own('/api/openapi.json'))
    expect(json).toEqual(load(yaml))
  })

  test('a 404 says where the service is', async () => {
    for (const path of ['/api', '/api/'])
      expect((await ask(own(path))).json.message).toBe('path not found; see /api/docs')
    const message = 'path not found; the paths of this service begin with /api'
    for (const path of ['/', '/users', '/docs'])
      expect((await ask(own(path))).json).toEqual({ message, code: 'path_not_found' })
  })

  test.each([
    ['/api/users', 401],
    ['/api/api/users', 401],
    ['/users', 401],
    ['/apiusers', 404],
    ['/api/docs?x', 200],
    ['http://x/api/docs', 200],
    ['/docs', 404],
    ['/?/api/docs', 404],
    ['*', 404],
  ])('without a token, GET %s is %d', async (path, status) => {
    expect(await statusOf(`GET ${path}`)).toBe(status)
  })

  test.each(OUTSIDE.split(' '))('with a token, no method of %s is found', async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS'])
      expect(await statusOf(`${method} ${path}`, `Authorization: ${authorization}\r\n`)).toBe(404)
  })
})

test('a base path such as /users guards nothing of its own, and hides nothing', async () => {
  const below = await startService(store(), { basePath: '/users' })
  for (const [path, without, withToken] of [
    ['/users/docs', 200, 200],
    ['/users', 404, 404],
    ['/users/users', 401, 200],
    ['/users/x/users', 401, 404],
    ['/users/users/docs', 401, 404],
  ] as const) {
    const statuses = [await statusOf(`GET ${path}`, '', below)]
    statuses.push(await statusOf(`GET ${path}`, `Authorization: ${authorization}\r\n`, below))
    expect([path, ...statuses]).toEqual([path, without, withToken])
  }
  await below.close()
})
