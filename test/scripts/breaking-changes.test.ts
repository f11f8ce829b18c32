// Changes to openapi.yaml that break a client, and changes that do not. Those that oasdiff alone decides
// are in breaking-changes.long.ts.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import { breakingChanges, type OpenApi } from '../../scripts/breaking-changes.ts'
import { breaks, change, contract, rowsOf } from './contract-changes.ts'

const BREAKING = `
  a path goes | paths /login - | POST /login: api path removed
  an operationId changes | paths /users/{id} get operationId = getUser | GET /users/{id}: api operation id \`readUser\` removed
  a path parameter changes its name | paths /users/{id} -> /users/{uid}; components parameters id name = uid | GET /users/{}: {id} no more
  an error has another status | paths /users/{id} get responses 404 -> 410 | GET /users/{id}: removed the non-success response with the status \`404\`
  an answer outside of all operations has another status | x-responses-outside-operations 405 -> 501 | (no operation): removed the non-success response with the status \`405\`
  ids have another form | schemas User properties id pattern = ^[0-9a-f-]{36}$ | GET /users/{id}: the \`id\` response's property pattern was changed
  ids have any form | schemas User properties id pattern - | GET /users/{id}: the \`id\` response's property pattern \`^[0-9a-f]{24}$\` was removed
  errors have another media type | components responses NoSuchUser content application/json -> application/problem+json | GET /users/{id}: media type \`application/json\` was changed to a more specific media type
  a header has another value | components headers WWW-Authenticate schema const = Basic | GET /users: WWW-Authenticate of 401 as {"type":"string","const":"Bearer"} no more
  a header outside of all operations has another value | x-responses-outside-operations 405 headers Allow schema const = GET | GET /(no operation): Allow of 405 as {"type":"string"} no more
  a field of a body is newly required | schemas NewUser required = [name] | POST /users: the request property \`name\` with a default value became required
  a new field of a body is required, though it has a default | schemas NewUser properties age = { type: integer, default: 1 }; schemas NewUser required = [age] | POST /users: added the new required request property \`age\` with a default value
  a field of a body has another default | schemas NewUser properties name default = nobody | POST /users: the \`name\` request property default value changed
  a body takes no other fields | schemas NewUser additionalProperties = false | POST /users: any other field in application/json no more
  an operation newly needs a token | paths /login post security = [{ bearer: [] }] | POST /login: the endpoint scheme security \`bearer\` was added
  an operation newly needs a token, because all do | paths /login post security -; security = [{ bearer: [] }] | POST /login: security none no more
  a token is shown in another way | components securitySchemes bearer scheme = basic | security: bearer as http bearer no more
  a token is sent in another way | components securitySchemes bearer = { type: apiKey, in: header, name: X } | the component security scheme \`bearer\` type changed from \`http\` to \`apiKey\`
  a security scheme goes | components securitySchemes - | the component security scheme \`bearer\` was removed
  the server moves | servers 0 url = /v2 | GET /users: server / no more
  the server of a path moves | paths /login servers = [{ url: /v2 }] | POST /login: server / no more
  a schema says what is not compared | schemas NewUser maxProperties = 1 | schemas: \`maxProperties\` is not compared here
`

test.each(rowsOf(BREAKING))('a client would break when %s', async (_, changes, sentence) => {
  expect(await breaks(changes)).toContainEqual(expect.stringContaining(sentence))
})

test('a client would break when a schema is renamed', async () => {
  const text = JSON.stringify(change(contract(), 'schemas User -> Person'))
  const renamed = text.replaceAll('#/components/schemas/User"', '#/components/schemas/Person"')
  expect(await breakingChanges(contract(), JSON.parse(renamed) as OpenApi)).toEqual([
    'components: User no more',
  ])
})

test('a client would break when errors have a more general media type', async () => {
  const content = 'components responses NoSuchUser content'
  const released = change(contract(), `${content} application/json -> application/problem+json`)
  expect(await breakingChanges(released, contract())).toContainEqual(
    expect.stringContaining('GET /users/{id}: media type `application/problem+json` was changed'),
  )
})

const HARMLESS = `
  nothing changes | nothing
  a header is described | components headers WWW-Authenticate schema description = x
  an operation needs no token any more | paths /users/{id} get security = []
  a body is said to be open | schemas NewUser additionalProperties = true
  a schema is recursive | schemas User properties boss = { $ref: '#/components/schemas/User' }
  an operation is new | paths /x = { get: { operationId: x, responses: { '204': { description: x } } } }
`

test.each(rowsOf(HARMLESS))('no client would break when %s', async (_, changes) => {
  expect(await breaks(changes)).toEqual([])
})

const [major] = contract().info.version.split('.')

test.each([
  [`${major}.99.0`, 1],
  [`${major}.0.99`, 1],
  [`${Number(major) + 1}.0.0`, 0],
])(
  'npm run check lists breaking changes, and allows them in a new major version: %s exits with %d',
  (version, code) => {
    const folder = mkdtempSync(join(tmpdir(), 'users-service-'))
    mkdirSync(join(folder, 'src/contract'), { recursive: true })
    writeFileSync(join(folder, 'src/contract/released.yaml'), stringify(contract()))
    writeFileSync(join(folder, 'openapi.yaml'), stringify(change(contract(), 'paths /login -')))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }))
    const program = fileURLToPath(new URL('../../dist/scripts/check-contract.js', import.meta.url))
    const options = { cwd: folder, encoding: 'utf8', timeout: 120_000 } as const // see runToEnd
    const { status, stderr } = spawnSync(process.execPath, [program], options)
    rmSync(folder, { recursive: true })
    expect([status, stderr]).toEqual([
      code,
      expect.stringMatching(/^POST \/login: api path removed/),
    ])
  },
)
