// The service at a path of a proxy: with BASE_PATH its links work, whether the proxy keeps the path or removes it.
import { describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { createUsersClient } from '../src/client/client.ts'
import { contract } from '../src/contract/contract.ts'
import { describeNginx, LOCATIONS, useNginx } from './support/nginx.ts'
import { started, usePlace } from './support/program.ts'
import { read } from './support/readme.ts'
import { startService, tokens, useService } from './support/service.ts'
import { sqlitePlace, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

const authorization = `Bearer ${tokens.issue('665f1c2e8b3f4a0012d4c001')}`

const place = usePlace()
const store = useStore(sqlitePlace)
const service = useService(store, undefined, '/api')

/** A request with a valid token: its status, its headers and its JSON. */
async function ask(url: string, method = 'GET', json?: object) {
  const headers = { authorization, 'content-type': 'application/json' }
  const body = JSON.stringify(json)
  const response = await fetch(url, { method, headers, ...(json && { body }) })
  const text = await response.text()
  const { status } = response
  return { status, headers: response.headers, json: text && JSON.parse(text) }
}

/** A request with a valid token, by curl. @returns the response with its headers */
async function curl(url: string, ...more: string[]): Promise<string> {
  const options = ['-s', '-i', '-m', '20', '-H', `Authorization: ${authorization}`]
  const { stdout } = await promisify(execFile)('curl', [...options, ...more, url])
  return stdout
}

const OK = /^HTTP\/1.1 200 /

const own = (path: string) => `http://127.0.0.1:${service().port}${path}`

describe('with BASE_PATH=/api', () => {
  test.each(['/api', ''])(
    'a request to %j/users has Location and Link with /api',
    async (prefix) => {
      const created = await ask(own(`${prefix}/users`), 'POST', newUser())
      expect(created.headers.get('location')).toBe(`/api/users/${created.json.id}`)
      await store().create(newUser())
      const { headers, json } = await ask(own(`${prefix}/users?limit=1`))
      const link = `</api/users?limit=1&after=${json[0].id}>; rel="next"`
      expect(headers.get('link')).toBe(link)
    },
  )

  test.each(['/api', ''])(
    'the contract at %j/openapi.yaml has this server, and no other change',
    async (prefix) => {
      const file = read('openapi.yaml')
      const yaml = await (await fetch(own(`${prefix}/openapi.yaml`))).text()
      expect(yaml).toBe(file.replace('\n  - url: /\n', '\n  - url: /api\n'))
      const { servers, ...others } = parse(yaml)
      expect(servers).toEqual([{ ...parse(file).servers[0], url: '/api' }])
      const { json } = await ask(own(`${prefix}/openapi.json`))
      expect(json).toEqual({ ...contract, servers })
      expect(others).toEqual({ ...contract, servers: undefined })
    },
  )

  test('the 404 at the root names the page at this path', async () => {
    for (const path of ['/', '/api', '/api/'])
      expect((await ask(own(path))).json).toEqual({ message: 'path not found; see /api/docs' })
  })

  test('the log has the path that the guard and the router see', async () => {
    const program = await started(place, { BASE_PATH: '/api' })
    const user = '/users/665f1c2e8b3f4a0012d4c001'
    for (const path of [`/api${user}?x`, user])
      expect((await fetch(program.url() + path)).status).toBe(401)
    const { servers } = (await ask(`${program.url()}/api/openapi.json`)).json
    expect(servers[0].url).toBe('/api')
    program.process.kill()
    await program.ended
    expect(program.output.stdout.match(/"path":".*?"/g)).toEqual([
      `"path":"${user}"`,
      `"path":"${user}"`,
      '"path":"/openapi.json"',
    ])
  })

  test.each([
    ['/api/users', 401],
    ['/users', 401],
    ['/api/api/users', 401],
    ['/apiusers', 404],
    ['/api/users/', 401],
    ['/API/users', 401],
    ['/api//users', 401],
    ['/api/USERS', 404],
    ['/api/login/', 404],
    ['/api%2Flogin', 404],
  ])('without a token, %s is %d', async (path, status) => {
    expect((await fetch(own(path))).status).toBe(status)
  })
})

test.each(['/users-api', '/api/users-1/x', '/my/users.d'])(
  'a base path such as %s guards nothing of its own',
  async (basePath) => {
    const other = await startService(store(), { basePath })
    const status = async (path: string, method = 'GET') =>
      (await fetch(`http://127.0.0.1:${other.port}${path}`, { method })).status
    try {
      expect(await status(`${basePath}/login`)).toBe(405)
      expect(await status(`${basePath}/docs`)).toBe(200)
      expect(await status(basePath)).toBe(404)
      expect(await status(`${basePath}/x`)).toBe(404)
      for (const path of ['/users', '/users/x', '/x/users'])
        expect(await status(basePath + path)).toBe(401)
      for (const path of ['/users', `${basePath}-/login`]) expect(await status(path)).toBe(401)
    } finally {
      await other.close()
    }
  },
)

describeNginx.each(Object.entries(LOCATIONS))('behind nginx that %s', (_, location) => {
  const url = useNginx(location, () => service().port)

  test('the client logs in, creates a user and reads all', async () => {
    const { email, id } = await store().create(newUser())
    const users = createUsersClient({ baseUrl: `${url()}/api`, email })
    const body = newUser()
    const { data, response } = await users.POST('/users', { body })
    expect(data).toMatchObject(body)
    const location = response.headers.get('location')!
    expect((await ask(url() + location)).json).toEqual(data)
    const found = []
    for await (const user of users.all()) found.push(user.id)
    expect(found).toEqual(expect.arrayContaining([id, data!.id]))
  })

  test('curl follows Location and Link, and the server of the contract is right', async () => {
    const json = ['-H', 'Content-Type: application/json', '-d', JSON.stringify(newUser())]
    const created = await curl(`${url()}/api/users`, ...json)
    const [, path] = /^location: (.*)\r$/im.exec(created)!
    expect(await curl(url() + path)).toMatch(OK)
    await store().create(newUser())
    const page = await curl(`${url()}/api/users?limit=1`)
    const [, next] = /^link: <(.*?)>/im.exec(page)!
    expect(await curl(url() + next)).toMatch(OK)
    const { servers } = (await ask(`${url()}/api/openapi.json`)).json
    expect(await curl(`${url()}${servers[0].url}/users`)).toMatch(OK)
  })

  test('the guard still asks for a token', async () => {
    for (const path of ['/api/users', '/api/users/x', '/api/x/users'])
      expect((await fetch(url() + path)).status).toBe(401)
  })
})
