// Changes to openapi.yaml that break a client, and changes that do not.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { breakingChanges, type OpenApi } from '../../scripts/breaking-changes.ts'
import { root } from '../support/readme.ts'
import { breaks, change, contract, rowsOf } from './contract-changes.ts'

const BREAKING = `
  an operationId changes | paths /users/{id} get operationId = getUser | GET /users/{id}: operationId was "readUser" and is "getUser"
  a path parameter changes its name | paths /users/{id} -> /users/{uid}; components parameters id name = uid | GET /users/{id}: is gone
  a response outside the operations has another status | x-responses-outside-operations 405 -> 501 | outside the operations 405: is gone
  ids have another form | schemas User properties id pattern = ^[0-9a-f-]{36}$ | GET /users/{id} 200 application/json id: pattern was "^[0-9a-f]{24}$" and is
  ids have any form | schemas User properties id pattern - | GET /users/{id} 200 application/json id: pattern was "^[0-9a-f]{24}$" and is absent
  a header has another value | components headers WWW-Authenticate schema enum = [Basic] | GET /users 401 WWW-Authenticate: schema was {"type":"string","enum":["Bearer"]}
  a field of a body is newly required | schemas UserFields required += id | POST /users body application/json: required was ["name","email"] and is ["name","email","id"]
  a new field of a body is required, although it has a default | schemas UserFields properties age = { type: integer, default: 1 }; schemas UserFields required += age | POST /users body application/json: required was ["name","email"] and is ["name","email","age"]
  a field of a body has another default | schemas UserFields properties name default = nobody | POST /users body application/json name: default was absent and is "nobody"
  a body takes no other fields | schemas UserFields additionalProperties = false | POST /users body application/json: additionalProperties was absent and is false
  an operation newly needs a token | paths /login post security = [{ bearer: [] }] | POST /login: security was [] and is [{"bearer":[]}]
  an operation newly needs a token, because all operations do | paths /login post security -; security = [{ bearer: [] }] | POST /login: security was [] and is [{"bearer":[]}]
  a token has another scheme | components securitySchemes bearer scheme = basic | components: securitySchemes was
  a security scheme goes | components securitySchemes - | components: securitySchemes was
  the server moves | servers 0 url = /v2 | GET /users: servers was [{"url":"/"}] and is [{"url":"/v2"}]
  the server of a path moves | paths /login servers = [{ url: /v2 }] | POST /login: servers was [{"url":"/"}] and is [{"url":"/v2"}]
  a schema has a new keyword, of any kind | schemas UserFields maxProperties = 1 | POST /users body application/json: maxProperties was absent and is 1
  a path moves | paths /login -> /authenticate | POST /login: is gone
  an operation goes | paths /users/{id} delete - | DELETE /users/{id}: is gone
  a path parameter changes its type | components parameters id schema type = integer | GET /users/{id} path parameter id: type was "string" and is "integer"
  a parameter is newly required | paths /users get parameters += { name: page, in: query, required: true, schema: { type: integer } } | GET /users query parameter page: is new and required
  a success has another status | paths /users post responses 201 -> 200 | POST /users 201: is gone
  a field of a response goes | schemas User properties email -; schemas User required = [id, name] | GET /users/{id} 200 application/json email: is gone
  a field of a response may be absent | schemas User required = [id, name] | GET /users/{id} 200 application/json: required was ["id","name","email"
  a field of a response may be null | schemas User properties name type = [string, 'null'] | GET /users/{id} 200 application/json name: type was "string" and is ["string","null"]
  a list becomes an object | paths /users get responses 200 content application/json schema type = object | GET /users 200 application/json: type was "array" and is "object"
  a response has another media type | paths /users/{id} get responses 200 content application/json -> text/xml | GET /users/{id} 200 application/json: is gone
  a header goes | paths /users post responses 201 headers - | POST /users 201 Location: is gone
  a header may be absent | paths /users post responses 201 headers Location required = false | POST /users 201 Location: may be absent
  a field of a body goes | schemas UserFields properties email - | POST /users body application/json email: is gone
  a field of a body has another type | schemas UserFields properties name type = integer | POST /users body application/json name: type was "string" and is "integer"
  a field of a body must be longer | schemas NewName properties name minLength = 2 | PUT /users/{id} body application/json name: minLength was 1 and is 2
  a field of a body must be shorter | schemas NewName properties name maxLength = 80 | PUT /users/{id} body application/json name: maxLength was absent and is 80
  a field of a body has a format | schemas UserFields properties email format = email | POST /users body application/json email: format was "well-formed-unicode" and is "email"
  a body takes less than x-also-accepts says | schemas UserFields x-also-accepts - | POST /users body application/json: x-also-accepts was {"required":[]} and is absent
  a body has another media type | paths /users post requestBody content application/json -> text/xml | POST /users body application/json: is gone
`

test.each(rowsOf(BREAKING))('a client would break when %s', (_, changes, sentence) => {
  expect(breaks(changes)).toContainEqual(expect.stringContaining(sentence))
})

test('a client would break when a field of a body takes no null', () => {
  const was = change(contract(), "schemas UserFields properties name type = [string, 'null']")
  const expected =
    'POST /users body application/json name: type was ["string","null"] and is "string"'
  expect(breakingChanges(was, contract())).toEqual([expected])
})

test('a client would break when a schema is renamed', () => {
  const text = JSON.stringify(change(contract(), 'schemas User -> Person'))
  const renamed = text.replaceAll('#/components/schemas/User"', '#/components/schemas/Person"')
  const changes = breakingChanges(contract(), JSON.parse(renamed) as OpenApi)
  expect(changes).toEqual(['components User: is gone'])
})

test('a client would break when errors have a more general media type', () => {
  const content = 'components responses NoSuchUser content'
  const released = change(contract(), `${content} application/json -> application/problem+json`)
  expect(breakingChanges(released, contract())).toContainEqual(
    expect.stringContaining('GET /users/{id} 404 application/problem+json: is gone'),
  )
})

const HARMLESS = `
  a header is described | components headers WWW-Authenticate schema description = x
  an operation needs no token any more | paths /users/{id} get security = []
  a body is said to be open | schemas UserFields additionalProperties = true
  a schema is recursive | schemas User properties boss = { $ref: '#/components/schemas/User' }
  an operation is new | paths /x = { get: { operationId: x, responses: { '204': { description: x } } } }
  a description changes | paths /users get description = x
  an example changes | components parameters id example = x
  an operation is deprecated | paths /users/{id} get deprecated = true
  a parameter is new and optional | paths /users get parameters += { name: q, in: query, schema: { type: string } }
  an error is new | paths /users/{id} get responses 429 = { description: x }
  a field of a response is new and always there | schemas User properties age = { type: integer }; schemas User required += age
  a field of a body is new | schemas UserFields properties age = { type: integer }
  a field of a body may be absent | schemas Login required = []
  x-also-accepts is new | schemas Login properties email x-also-accepts = { type: [string, number] }
  a field of a body takes more | schemas NewName properties name minLength = 0
`

test.each(rowsOf(HARMLESS))('no client would break when %s', (_, changes) => {
  expect(breaks(changes)).toEqual([])
})

const major = Number(contract().info.version.split('.')[0])

test.each([
  ['fails', 1, `${major}.99.0`],
  ['fails', 1, `${major}.0.99`],
  ['passes', 0, `${major + 1}.0.0`],
])('npm run check lists a path that is gone and %s with %d, for %s', (_, code, version) => {
  const folder = mkdtempSync(join(tmpdir(), 'users-service-'))
  mkdirSync(join(folder, 'src/contract'), { recursive: true })
  writeFileSync(join(folder, 'src/contract/released.yaml'), stringify(contract()))
  writeFileSync(join(folder, 'openapi.yaml'), stringify(change(contract(), 'paths /login -')))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }))
  const program = join(root, 'dist/scripts/check-contract.js')
  const options = { cwd: folder, encoding: 'utf8', timeout: 120_000 } as const // see runToEnd
  const { status, stderr } = spawnSync(process.execPath, [program], options)
  rmSync(folder, { recursive: true })
  expect([status, stderr]).toEqual([code, expect.stringMatching(/^POST \/login: is gone/)])
})
