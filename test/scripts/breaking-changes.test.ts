// Changes to openapi.yaml that break a client, and changes that do not. Those that oasdiff alone decides
// are in breaking-changes.long.ts.
import { describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { breakingChanges } from '../../scripts/breaking-changes.ts'
import { contract, breaks, ID, rename, type Change } from './contract-changes.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

describe('a client would break when', () => {
  test.each<[string, Change, string]>([
    ['a path goes', (c) => delete c.paths['/login'], 'POST /login: api path removed'],
    [
      'an operationId changes',
      (c) => (c.paths[ID].get.operationId = 'getUser'),
      'GET /users/{id}: api operation id `readUser` removed',
    ],
    [
      'a path parameter changes its name',
      (c) => {
        rename(c.paths, ID, '/users/{uid}')
        c.components.parameters.id.name = 'uid'
      },
      'GET /users/{}: {id} no more',
    ],
    [
      'an error has another status',
      (c) => rename(c.paths[ID].get.responses, '404', '410'),
      'GET /users/{id}: removed the non-success response with the status `404`',
    ],
    [
      'an answer outside of all operations has another status',
      (c) => rename(c['x-responses-outside-operations'], '405', '501'),
      '(no operation): removed the non-success response with the status `405`',
    ],
    [
      'ids have another form',
      (_, { User }) => (User.properties.id.pattern = '^[0-9a-f-]{36}$'),
      "GET /users/{id}: the `id` response's property pattern was changed",
    ],
    [
      'errors have another media type',
      (c) =>
        rename(
          c.components.responses.NoSuchUser.content,
          'application/json',
          'application/problem+json',
        ),
      'GET /users/{id}: media type `application/json` was changed to a more specific media type',
    ],
    [
      'a header has another value',
      (c) => (c.components.headers['WWW-Authenticate'].schema.const = 'Basic'),
      'GET /users: WWW-Authenticate of 401 as {"type":"string","const":"Bearer"} no more',
    ],
    [
      'a field of a body is newly required',
      (_, { NewUser }) => (NewUser.required = ['name']),
      'POST /users: the request property `name` with a default value became required',
    ],
    [
      'a field of a body has another default',
      (_, { NewUser }) => (NewUser.properties.name.default = 'nobody'),
      'POST /users: the `name` request property default value changed',
    ],
    [
      'a body takes no other fields',
      (_, { NewUser }) => (NewUser.additionalProperties = false),
      'POST /users: any other field in application/json no more',
    ],
    [
      'an operation newly needs a token',
      (c) => (c.paths['/login'].post.security = [{ bearer: [] }]),
      'POST /login: the endpoint scheme security `bearer` was added',
    ],
    [
      'a token is shown in another way',
      (c) => (c.components.securitySchemes.bearer.scheme = 'basic'),
      'security: bearer as http bearer no more',
    ],
    [
      'a token is sent in another way',
      (c) => (c.components.securitySchemes.bearer = { type: 'apiKey', in: 'header', name: 'X' }),
      'the component security scheme `bearer` type changed from `http` to `apiKey`',
    ],
    [
      'a security scheme goes',
      (c) => delete c.components.securitySchemes,
      'the component security scheme `bearer` was removed',
    ],
    [
      'an operation newly needs a token, because all do',
      (c) => {
        delete c.paths['/login'].post.security
        c.security = [{ bearer: [] }]
      },
      'POST /login: security none no more',
    ],
    ['the server moves', (c) => (c.servers[0].url = '/v2'), 'GET /users: server / no more'],
    [
      'the server of a path moves',
      (c) => (c.paths['/login'].servers = [{ url: '/v2' }]),
      'POST /login: server / no more',
    ],
    [
      'a header outside of all operations has another value',
      (c) => (c['x-responses-outside-operations']['405'].headers.Allow.schema.const = 'GET'),
      'GET /(no operation): Allow of 405 as {"type":"string"} no more',
    ],
    [
      'ids have any form',
      (_, { User }) => delete User.properties.id.pattern,
      "GET /users/{id}: the `id` response's property pattern `^[0-9a-f]{24}$` was removed",
    ],
    [
      'a new field of a body is required, though it has a default',
      (_, { NewUser }) => {
        NewUser.properties.age = { type: 'integer', default: 1 }
        NewUser.required = ['age']
      },
      'POST /users: added the new required request property `age` with a default value',
    ],
    [
      'a schema is renamed',
      (c) => {
        const renamed = JSON.parse(
          JSON.stringify(c).replaceAll(
            '#/components/schemas/User"',
            '#/components/schemas/Person"',
          ),
        )
        Object.assign(c, renamed)
        rename(c.components.schemas, 'User', 'Person')
      },
      'components: User no more',
    ],
    [
      'a schema says what is not compared',
      (_, { NewUser }) => (NewUser.maxProperties = 1),
      'schemas: `maxProperties` is not compared here',
    ],
  ])('%s', async (_, change, sentence) => {
    expect(await breaks(change)).toContainEqual(expect.stringContaining(sentence))
  })
})

describe('no client would break when', () => {
  test.each<[string, Change]>([
    ['nothing changes', () => {}],
    [
      'a header is described',
      (c) => (c.components.headers['WWW-Authenticate'].schema.description = 'x'),
    ],
    ['an operation needs no token any more', (c) => (c.paths[ID].get.security = [])],
    ['a body is said to be open', (_, { NewUser }) => (NewUser.additionalProperties = true)],
    [
      'a schema is recursive',
      (_, { User }) => (User.properties.boss = { $ref: '#/components/schemas/User' }),
    ],
    [
      'an operation is new',
      (c) =>
        (c.paths['/x'] = { get: { operationId: 'x', responses: { 204: { description: 'x' } } } }),
    ],
  ])('%s', async (_, change) => {
    expect(await breaks(change)).toEqual([])
  })
})

test('a client would break when errors have a more general media type', async () => {
  const released = contract()
  const { content } = released.components.responses.NoSuchUser
  rename(content, 'application/json', 'application/problem+json')
  expect(await breakingChanges(released, contract())).toContainEqual(
    expect.stringContaining('GET /users/{id}: media type `application/problem+json` was changed'),
  )
})

describe('npm run check, when a path went,', () => {
  function check(version: string) {
    const folder = mkdtempSync(join(tmpdir(), 'users-service-'))
    const changed = contract()
    delete changed.paths['/login']
    mkdirSync(join(folder, 'src/contract'), { recursive: true })
    writeFileSync(join(folder, 'src/contract/released.yaml'), stringify(contract()))
    writeFileSync(join(folder, 'openapi.yaml'), stringify(changed))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }))
    const program = join(root, 'dist/scripts/check-contract.js')
    const { status, stderr } = spawnSync(process.execPath, [program], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 120_000, // see runToEnd
    })
    rmSync(folder, { recursive: true })
    return { status, stderr }
  }

  const [major] = contract().info.version.split('.')

  test.each([`${major}.99.0`, `${major}.0.99`])('fails with the list, for %s', (version) => {
    const { status, stderr } = check(version)
    expect(status).toBe(1)
    expect(stderr).toMatch(/^POST \/login: api path removed/)
  })

  test('shows the list and passes when package.json has another major version', () => {
    const { status, stderr } = check(`${Number(major) + 1}.0.0`)
    expect(status).toBe(0)
    expect(stderr).toMatch(/^POST \/login: api path removed/)
  })
})
