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
    ['a path goes', (c) => delete c.paths['/login'], 'POST /login: is gone'],
    ['a path moves', (c) => rename(c.paths, '/login', '/authenticate'), 'POST /login: is gone'],
    ['an operation goes', (c) => delete c.paths[ID].delete, 'DELETE /users/{id}: is gone'],
    ['a method changes', (c) => rename(c.paths[ID], 'put', 'patch'), 'PUT /users/{id}: is gone'],
    [
      'an operationId changes',
      (c) => (c.paths[ID].get.operationId = 'getUser'),
      'GET /users/{id}: the operationId was "readUser" and is "getUser"',
    ],
    [
      'a path parameter changes its name',
      (c) => {
        rename(c.paths, ID, '/users/{uid}')
        c.components.parameters.id.name = 'uid'
      },
      'GET /users/{id}: is gone',
    ],
    [
      'a path parameter changes its type',
      (c) => (c.components.parameters.id.schema.type = 'integer'),
      'GET /users/{id} path parameter id: `type` was "string" and is "integer"',
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
      'GET /users query parameter page: is new and required',
    ],
    [
      'a success has another status',
      (c) => rename(c.paths['/users'].post.responses, '201', '200'),
      'POST /users 201: is gone',
    ],
    [
      'an error has another status',
      (c) => rename(c.paths[ID].get.responses, '404', '410'),
      'GET /users/{id} 404: is gone',
    ],
    [
      'an answer outside of all operations has another status',
      (c) => rename(c['x-responses-outside-operations'], '405', '501'),
      'outside the operations 405: is gone',
    ],
    [
      'a field of an answer goes',
      (_, { User }) => {
        delete User.properties.email
        User.required = ['id', 'name']
      },
      'GET /users/{id} 200 application/json email: is gone',
    ],
    [
      'a field of an answer is renamed',
      (_, { Token }) => {
        rename(Token.properties, 'token', 'access_token')
        Token.required = ['access_token']
      },
      'POST /login 200 application/json token: is gone',
    ],
    [
      'a field of an answer may be absent',
      (_, { User }) => (User.required = ['id', 'name']),
      'GET /users/{id} 200 application/json: `required` was ["id","name","email"] and is ["id","name"]',
    ],
    [
      'a field of an answer may be null',
      (_, { User }) => (User.properties.name.type = ['string', 'null']),
      'GET /users/{id} 200 application/json name: `type` was "string" and is ["string","null"]',
    ],
    [
      'a field of an answer has another type',
      (_, { User }) => (User.properties.id.type = 'integer'),
      'GET /users/{id} 200 application/json id: `type` was "string" and is "integer"',
    ],
    [
      'ids have another form',
      (_, { User }) => (User.properties.id.pattern = '^[0-9a-f-]{36}$'),
      'GET /users/{id} 200 application/json id: `pattern` was "^[0-9a-f]{24}$"',
    ],
    [
      'errors have another field',
      (_, { Error }) => {
        rename(Error.properties, 'message', 'error')
        Error.required = ['error']
      },
      'GET /users/{id} 404 application/json message: is gone',
    ],
    [
      'errors have another media type',
      (c) =>
        rename(
          c.components.responses.NoSuchUser.content,
          'application/json',
          'application/problem+json',
        ),
      'GET /users/{id} 404 application/json: is gone',
    ],
    [
      'a list becomes an object',
      (c) =>
        (c.paths['/users'].get.responses['200'].content['application/json'].schema.type = 'object'),
      'GET /users 200 application/json: `type` was "array" and is "object"',
    ],
    [
      'an answer has another media type',
      (c) => rename(c.paths[ID].get.responses['200'].content, 'application/json', 'text/xml'),
      'GET /users/{id} 200 application/json: is gone',
    ],
    [
      'a header goes',
      (c) => delete c.paths['/users'].post.responses['201'].headers,
      'POST /users 201 Location: is gone',
    ],
    [
      'a header may be absent',
      (c) => (c.paths['/users'].post.responses['201'].headers.Location.required = false),
      'POST /users 201 Location: may be absent',
    ],
    [
      'a header has another value',
      (c) => (c.components.headers['WWW-Authenticate'].schema.const = 'Basic'),
      'GET /users 401 WWW-Authenticate: its schema was {"type":"string","const":"Bearer"}',
    ],
    [
      'a field of a body is newly required',
      (_, { NewUser }) => (NewUser.required = ['name']),
      'POST /users body application/json: `required` was absent and is ["name"]',
    ],
    [
      'a new field of a body is required',
      (_, { NewUser }) => {
        NewUser.properties.age = { type: 'integer' }
        NewUser.required = ['age']
      },
      'POST /users body application/json: `required` was absent and is ["age"]',
    ],
    [
      'a field of a body goes',
      (_, { NewUser }) => delete NewUser.properties.email,
      'POST /users body application/json email: is gone',
    ],
    [
      'a field of a body takes fewer types',
      (_, { NewUser }) => (NewUser.properties.name.type = ['string', 'null']),
      'POST /users body application/json name: `type` was ["string","number","boolean","null"] and is ["string","null"]',
    ],
    [
      'a field of a body takes no null',
      (_, { NewUser }) => (NewUser.properties.name.type = ['string', 'number', 'boolean']),
      'POST /users body application/json name: `type` was ["string","number","boolean","null"] and is ["string","number","boolean"]',
    ],
    [
      'a field of a body must be longer',
      (_, { NewName }) => (NewName.properties.name.minLength = 2),
      'PUT /users/{id} body application/json name: `minLength` was 1 and is 2',
    ],
    [
      'a field of a body must be shorter',
      (_, { NewName }) => (NewName.properties.name.maxLength = 80),
      'PUT /users/{id} body application/json name: `maxLength` was absent and is 80',
    ],
    [
      'a field of a body has a pattern',
      (_, { Login }) => (Login.properties.email.pattern = '@'),
      'POST /login body application/json email: `pattern` was absent and is "@"',
    ],
    [
      'a field of a body has a format',
      (_, { NewUser }) => (NewUser.properties.email.format = 'email'),
      'POST /users body application/json email: `format` was "well-formed-unicode" and is "email"',
    ],
    [
      'a field of a body has another default',
      (_, { NewUser }) => (NewUser.properties.name.default = 'nobody'),
      'POST /users body application/json name: `default` was "" and is "nobody"',
    ],
    [
      'a body takes no other fields',
      (_, { NewUser }) => (NewUser.additionalProperties = false),
      'POST /users body application/json: `additionalProperties` was absent and is false',
    ],
    [
      'a body has another media type',
      (c) => rename(c.paths['/users'].post.requestBody.content, 'application/json', 'text/xml'),
      'POST /users body application/json: is gone',
    ],
    [
      'an operation newly needs a token',
      (c) => (c.paths['/login'].post.security = [{ bearer: [] }]),
      'POST /login: the security was [] and is [{"bearer":[]}]',
    ],
    [
      'a token is shown in another way',
      (c) => (c.components.securitySchemes.bearer.scheme = 'basic'),
      'components: securitySchemes was',
    ],
    [
      'a token is sent in another way',
      (c) => (c.components.securitySchemes.bearer = { type: 'apiKey', in: 'header', name: 'X' }),
      'components: securitySchemes was',
    ],
    [
      'a security scheme goes',
      (c) => delete c.components.securitySchemes,
      'components: securitySchemes was',
    ],
    [
      'an operation newly needs a token, because all do',
      (c) => {
        delete c.paths['/login'].post.security
        c.security = [{ bearer: [] }]
      },
      'POST /login: the security was [] and is [{"bearer":[]}]',
    ],
    [
      'the server moves',
      (c) => (c.servers[0].url = '/v2'),
      'GET /users: the server was [{"url":"/"}] and is [{"url":"/v2"}]',
    ],
    [
      'the server of a path moves',
      (c) => (c.paths['/login'].servers = [{ url: '/v2' }]),
      'POST /login: the server was [{"url":"/"}] and is [{"url":"/v2"}]',
    ],
    [
      'a header outside of all operations has another value',
      (c) => (c['x-responses-outside-operations']['405'].headers.Allow.schema.const = 'GET'),
      'outside the operations 405 Allow: its schema was {"type":"string"}',
    ],
    [
      'ids have any form',
      (_, { User }) => delete User.properties.id.pattern,
      'GET /users/{id} 200 application/json id: `pattern` was "^[0-9a-f]{24}$" and is absent',
    ],
    [
      'a new field of a body is required, though it has a default',
      (_, { NewUser }) => {
        NewUser.properties.age = { type: 'integer', default: 1 }
        NewUser.required = ['age']
      },
      'POST /users body application/json: `required` was absent and is ["age"]',
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
      'components User: is gone',
    ],
    [
      'a schema gets a keyword that breaking-changes.ts does not mention',
      (_, { NewUser }) => (NewUser.maxProperties = 1),
      'POST /users body application/json: `maxProperties` was absent and is 1',
    ],
  ])('%s', (_, change, sentence) => {
    const changed = read()
    change(changed, changed.components.schemas)
    const found = breakingChanges(read(), changed)
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
  ])('%s', (_, change) => {
    const changed = read()
    change(changed, changed.components.schemas)
    expect(breakingChanges(read(), changed)).toEqual([])
  })
})

test('a client would break when errors have a more general media type', () => {
  const released = read()
  const { content } = released.components.responses.NoSuchUser
  rename(content, 'application/json', 'application/problem+json')
  expect(breakingChanges(released, read())).toContainEqual(
    expect.stringContaining('GET /users/{id} 404 application/problem+json: is gone'),
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
    expect(stderr).toMatch(/^POST \/login: is gone/)
  })

  test('shows the list and passes when package.json has another major version', () => {
    const { status, stderr } = check(`${Number(major) + 1}.0.0`)
    expect(status).toBe(0)
    expect(stderr).toMatch(/^POST \/login: is gone/)
  })
})
