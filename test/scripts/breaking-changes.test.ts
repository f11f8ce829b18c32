// Which changes to openapi.yaml `npm run check` finds to break a client, and which not.
import { describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, stringify } from 'yaml'
import { breakingChanges } from '../../scripts/breaking-changes.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (): Any => parse(readFileSync(join(root, 'openapi.yaml'), 'utf8'))
type Any = any // eslint-disable-line -- a change can be anywhere

const ID = '/users/{id}'

/** Moves what is at one key of `object` to another. */
const rename = (object: Any, from: string, to: string) => {
  object[to] = object[from]
  delete object[from]
}

type Change = (contract: Any, schemas: Any) => void

describe('a client would break when', () => {
  test.each<[string, Change, string]>([
    ['a path goes', (c) => delete c.paths['/login'], 'POST /login: api path removed'],
    ['a path moves', (c) => rename(c.paths, '/login', '/authenticate'), 'POST /login: api path'],
    ['an operation goes', (c) => delete c.paths[ID].delete, 'DELETE /users/{id}: api removed'],
    [
      'a method changes',
      (c) => rename(c.paths[ID], 'put', 'patch'),
      'PUT /users/{id}: api removed',
    ],
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
      'a path parameter changes its type',
      (c) => (c.components.parameters.id.schema.type = 'integer'),
      'GET /users/{id}: for the `path` request parameter `id`, the type/format was changed from `string`',
    ],
    [
      'a parameter is newly required',
      (c) =>
        c.paths['/users'].get.parameters.push({
          name: 'page',
          in: 'query',
          required: true,
          schema: { type: 'integer' },
        }),
      'GET /users: added the new required `query` request parameter `page`',
    ],
    [
      'a success has another status',
      (c) => rename(c.paths['/users'].post.responses, '201', '200'),
      'POST /users: removed the success response with the status `201`',
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
      'a field of an answer goes',
      (_, { User }) => {
        delete User.properties.email
        User.required = ['id', 'name']
      },
      'GET /users/{id}: removed the required property `email`',
    ],
    [
      'a field of an answer is renamed',
      (_, { Token }) => {
        rename(Token.properties, 'token', 'access_token')
        Token.required = ['access_token']
      },
      'POST /login: removed the required property `token`',
    ],
    [
      'a field of an answer may be absent',
      (_, { User }) => (User.required = ['id', 'name']),
      'GET /users/{id}: the response property `email` became optional',
    ],
    [
      'a field of an answer may be null',
      (_, { User }) => (User.properties.name.type = ['string', 'null']),
      'GET /users/{id}: the response property `name` became nullable',
    ],
    [
      'a field of an answer has another type',
      (_, { User }) => (User.properties.id.type = 'integer'),
      "GET /users/{id}: the `id` response's property type/format changed",
    ],
    [
      'ids have another form',
      (_, { User }) => (User.properties.id.pattern = '^[0-9a-f-]{36}$'),
      "GET /users/{id}: the `id` response's property pattern was changed",
    ],
    [
      'errors have another field',
      (_, { Error }) => {
        rename(Error.properties, 'message', 'error')
        Error.required = ['error']
      },
      'GET /users/{id}: removed the required property `message` from the response with the `404`',
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
      'a list becomes an object',
      (c) =>
        (c.paths['/users'].get.responses['200'].content['application/json'].schema.type = 'object'),
      "GET /users: the response's body type/format changed",
    ],
    [
      'an answer has another media type',
      (c) => rename(c.paths[ID].get.responses['200'].content, 'application/json', 'text/xml'),
      'GET /users/{id}: removed the media type `application/json`',
    ],
    [
      'a header goes',
      (c) => delete c.paths['/users'].post.responses['201'].headers,
      'POST /users: the mandatory response header `Location` removed for the status `201`',
    ],
    [
      'a header may be absent',
      (c) => (c.paths['/users'].post.responses['201'].headers.Location.required = false),
      'POST /users: the response header `Location` became optional',
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
      'a new field of a body is required',
      (_, { NewUser }) => {
        NewUser.properties.age = { type: 'integer' }
        NewUser.required = ['age']
      },
      'POST /users: added the new required request property `age`',
    ],
    [
      'a field of a body goes',
      (_, { NewUser }) => delete NewUser.properties.email,
      'POST /users: removed the request property `email`',
    ],
    [
      'a field of a body takes fewer types',
      (_, { NewUser }) => (NewUser.properties.name.type = ['string', 'null']),
      'POST /users: the `name` request property type/format changed',
    ],
    [
      'a field of a body takes no null',
      (_, { NewUser }) => (NewUser.properties.name.type = ['string', 'number', 'boolean']),
      'POST /users: the request property `name` became not nullable',
    ],
    [
      'a field of a body must be longer',
      (_, { NewName }) => (NewName.properties.name.minLength = 2),
      "PUT /users/{id}: the `name` request property's minLength was increased",
    ],
    [
      'a field of a body must be shorter',
      (_, { NewName }) => (NewName.properties.name.maxLength = 80),
      "PUT /users/{id}: the `name` request property's maxLength was set",
    ],
    [
      'a field of a body has a pattern',
      (_, { Login }) => (Login.properties.email.pattern = '@'),
      'POST /login: added the pattern `@` to the request property `email`',
    ],
    [
      'a field of a body has a format',
      (_, { NewUser }) => (NewUser.properties.email.format = 'email'),
      'POST /users: the `email` request property type/format changed',
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
      'a body has another media type',
      (c) => rename(c.paths['/users'].post.requestBody.content, 'application/json', 'text/xml'),
      'POST /users: removed the media type `application/json` from the request body',
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
    const changed = read()
    change(changed, changed.components.schemas)
    const found = await breakingChanges(read(), changed)
    expect(found).toContainEqual(expect.stringContaining(sentence))
  })
})

describe('no client would break when', () => {
  test.each<[string, Change]>([
    ['nothing changes', () => {}],
    ['a description changes', (c) => (c.paths['/users'].get.description = 'x')],
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
    ['an example changes', (c) => (c.components.parameters.id.example = 'x')],
    [
      'an operation is new',
      (c) =>
        (c.paths['/x'] = { get: { operationId: 'x', responses: { 204: { description: 'x' } } } }),
    ],
    ['an operation is deprecated', (c) => (c.paths[ID].get.deprecated = true)],
    [
      'a parameter is new and optional',
      (c) =>
        c.paths['/users'].get.parameters.push({
          name: 'q',
          in: 'query',
          schema: { type: 'string' },
        }),
    ],
    ['an error is new', (c) => (c.paths[ID].get.responses['429'] = { description: 'x' })],
    ['a field of an answer is new', (_, { User }) => (User.properties.age = { type: 'integer' })],
    [
      'a field of an answer is new and always there',
      (_, { User }) => {
        User.properties.age = { type: 'integer' }
        User.required.push('age')
      },
    ],
    [
      'a field of a body is new',
      (_, { NewUser }) => (NewUser.properties.age = { type: 'integer' }),
    ],
    ['a field of a body may be absent', (_, { Login }) => (Login.required = [])],
    ['a field of a body takes more', (_, { NewName }) => (NewName.properties.name.minLength = 0)],
  ])('%s', async (_, change) => {
    const changed = read()
    change(changed, changed.components.schemas)
    expect(await breakingChanges(read(), changed)).toEqual([])
  })
})

test('a client would break when errors have a more general media type', async () => {
  const released = read()
  const { content } = released.components.responses.NoSuchUser
  rename(content, 'application/json', 'application/problem+json')
  expect(await breakingChanges(released, read())).toContainEqual(
    expect.stringContaining('GET /users/{id}: media type `application/problem+json` was changed'),
  )
})

describe('npm run check, when a path went,', () => {
  function check(version: string) {
    const folder = mkdtempSync(join(tmpdir(), 'users-service-'))
    const changed = read()
    delete changed.paths['/login']
    mkdirSync(join(folder, 'src/contract'), { recursive: true })
    writeFileSync(join(folder, 'src/contract/released.yaml'), stringify(read()))
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

  const [major] = read().info.version.split('.')

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
