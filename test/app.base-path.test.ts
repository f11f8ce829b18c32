// The service at a path of a proxy: with BASE_PATH its links work, and only paths that begin with it exist.
import { describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { createUsersClient } from '../src/client/client.ts'
import { contract } from '../src/contract/contract.ts'
import { describeNginx, LOCATION, useNginx } from './support/nginx.ts'
import { started, usePlace } from './support/program.ts'
import { read } from './support/readme.ts'
import { dial, parseResponses, startService, tokens, useService } from './support/service.ts'
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

/** The status of a request as it is written here, without a token or with `more` headers. */
async function statusOf(line: string, more = '', port = service().port): Promise<number> {
  const { socket, text } = dial(port)
  socket.write(`${line} HTTP/1.1\r\nHost: localhost\r\n${more}Connection: close\r\n\r\n`)
  await once(socket, 'close')
  return parseResponses(text())[0]!.status
}

const OUTSIDE =
  '/users /login /api/api/users /api/api/login //api/login /api//login /API/login /apilogin /api;x/login ' +
  '/./api/login /api/../login /%61pi/login /x/api/login /api/api/docs http://api/login http://x/login'

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
    const { servers, ...others } = parse(yaml)
    expect(servers).toEqual([{ ...parse(file).servers[0], url: '/api' }])
    const { json } = await ask(own('/api/openapi.json'))
    expect(json).toEqual({ ...contract, servers })
    expect(others).toEqual({ ...contract, servers: undefined })
  })

  test('a 404 says where the service is', async () => {
    for (const path of ['/api', '/api/'])
      expect((await ask(own(path))).json.message).toBe('path not found; see /api/docs')
    const message = 'path not found; the paths of this service begin with /api'
    for (const path of ['/', '/users', '/docs'])
      expect((await ask(own(path))).json).toEqual({ message, code: 'path_not_found' })
  })

  test('the log has the path as it was sent', async () => {
    const program = await started(place, { BASE_PATH: '/api' })
    const user = '/users/665f1c2e8b3f4a0012d4c001'
    for (const path of [`/api${user}?x`, user]) await fetch(program.url() + path)
    program.process.kill()
    await program.ended
    expect(program.output.stdout.match(/"path":".*?"/g)).toEqual([
      `"path":"/api${user}"`,
      `"path":"${user}"`,
    ])
  })

  test.each([
    ['/api/users', 401],
    ['/api/users/', 401],
    ['/api//users', 401],
    ['/api/api/users', 401],
    ['/users', 401],
    ['/API/users', 401],
    ['//api/users', 401],
    ['/x/api/users', 401],
    ['http://x/users', 401],
    ['/api/USERS', 404],
    ['/apiusers', 404],
    ['/api%2Fusers', 404],
    ['/api/docs', 200],
    ['/api/docs?x', 200],
    ['http://x/api/docs', 200],
    ['/docs', 404],
    ['/openapi.json', 404],
    ['/?/api/docs', 404],
    ['http://api/docs', 404],
    ['/api/login', 405],
    ['*', 404],
  ])('without a token, GET %s is %d', async (path, status) => {
    expect(await statusOf(`GET ${path}`)).toBe(status)
  })

  test.each(OUTSIDE.split(' '))('with a token, no method of %s is found', async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS'])
      expect(await statusOf(`${method} ${path}`, `Authorization: ${authorization}\r\n`)).toBe(404)
  })
})

test.each(['/users', '/users/v1', '/my/users', '/users-api', '/login', '/docs', '/openapi.json'])(
  'a base path such as %s guards nothing of its own, and hides nothing',
  async (basePath) => {
    const { port, close } = await startService(store(), { basePath })
    const token = `Authorization: ${authorization}\r\n`
    try {
      for (const [path, without, withToken] of [
        ['/login', 405, 405],
        ['/docs', 200, 200],
        ['', 404, 404],
        ['/x', 404, 404],
        ['/users', 401, 200],
        ['/x/users', 401, 404],
        [`${basePath}/login`, basePath.includes('/users') ? 401 : 404, 404],
      ] as const) {
        expect([path, await statusOf(`GET ${basePath}${path}`, '', port)]).toEqual([path, without])
        expect([path, await statusOf(`GET ${basePath}${path}`, token, port)]).toEqual([
          path,
          withToken,
        ])
      }
      expect(await statusOf('GET /users/665f1c2e8b3f4a0012d4c001/users', '', port)).toBe(401)
    } finally {
      await close()
    }
  },
)

describeNginx('behind nginx, which keeps the path', () => {
  const url = useNginx(LOCATION, () => service().port, 'location = /api/login { deny all; }')

  test('a rule of the proxy for one path cannot be passed by with another spelling of it', async () => {
    const { email } = await store().create(newUser())
    const body = JSON.stringify({ email })
    const paths = [...OUTSIDE.split(' '), '/api/login?x', '/api/%6cogin', '/api/x/../login']
    const answer = async (path: string) => {
      const { socket, text } = dial(Number(new URL(url()).port))
      const json = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
      socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${json}Connection: close\r\n\r\n${body}`)
      await once(socket, 'close')
      return parseResponses(text())[0]!
    }
    for (const path of paths) {
      const { status, text } = await answer(path)
      expect([path, [400, 401, 403, 404], text]).toEqual([
        path,
        expect.arrayContaining([status]),
        expect.not.stringContaining('token":'),
      ])
    }
    expect((await answer('/api/login')).status).toBe(403)
  })
})

describeNginx('behind nginx', () => {
  const url = useNginx(LOCATION, () => service().port)

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
