// What the service could not do as the contract says: `npm run generate` refuses it, by .redocly.yaml and src/chassis/redocly.yaml.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dump, load } from 'js-yaml'
import { newFolder, read, root } from '../../support/readme.ts'

type Any = any // eslint-disable-line -- a contract can have anything

const text = { schema: { type: 'string' } }
const json = { schema: { type: 'object', properties: {} } }
const body = (content: object, required?: boolean) => ({ requestBody: { required, content } })
const response = (content: object) => ({ responses: { 200: { description: '', content } } })

const sent = (x: object) => ({
  schema: { type: 'object', additionalProperties: true, properties: { x } },
})
const listOf = (items: object) => ({ type: 'array', items })
const between = (minimum: number, maximum: number) => ({ type: 'integer', minimum, maximum })
const pattern = { schema: { type: 'string', pattern: '^x$' } }
const withDefault = { schema: { type: 'string', default: 'x' } }
const readOnly = { type: 'string', readOnly: true }
const map = { type: 'object', additionalProperties: { type: 'string' } }
const positive = { ...between(0, 9), exclusiveMinimum: true }
const ROUNDS = 'JSON.parse rounds large whole numbers'
const KEEPS = 'SQLite keeps texts, enums and whole numbers'

/** Some of what is refused: by its path in a contract, the operation there, and the message. */
const refused: [string, object, string][] = [
  ['/cookie', { parameters: [{ name: 'x', in: 'cookie', ...text }] }, 'reads no cookies'],
  ['/other-fields', response({ 'application/json': json }), 'may add a field'],
  ['/optional-body', body({ 'application/json': json }), 'refuses a request without its body'],
  ['/upload', body({ 'image/png': text }, true), 'The service reads JSON'],
  ['/no-bounds', body({ 'application/json': sent({ type: 'integer' }) }, true), ROUNDS],
  [
    '/no-bounds-in-a-list',
    body({ 'application/json': sent(listOf({ type: 'integer' })) }, true),
    ROUNDS,
  ],
  ['/too-small', response({ 'application/json': sent(between(-(2 ** 60), 0)) }), ROUNDS],
  ['/too-large', body({ 'application/json': sent(between(0, 9007199254740992)) }, true), ROUNDS],
  ['/decimal', response({ 'application/json': sent({ type: 'number' }) }), KEEPS],
  ['/boolean', body({ 'application/json': sent(listOf({ type: 'boolean' })) }, true), KEEPS],
  ['/two-types', response({ 'image/png': text, 'image/webp': text }), 'which media type a client'],
  ['/example', { parameters: [{ name: 'x', in: 'query', ...text, example: 'x' }] }, 'Tools send'],
  ['/examples', { parameters: [{ name: 'x', in: 'query', ...text, examples: {} }] }, 'Tools send'],
  ['/a:b', {}, 'The router matches'],
  ['/{1}', {}, 'The router matches'],
  ['/untyped', body({ 'application/json': sent({ anyOf: [text.schema] }) }, true), 'the type of'],
  ['/map', body({ 'application/json': sent(map) }, true), 'The service removes fields'],
  ['/default', { parameters: [{ name: 'x', in: 'query', ...withDefault }] }, 'fills in'],
  ['/read-only', body({ 'application/json': sent(readOnly) }, true), 'takes away'],
  ['/{x}', { parameters: [{ name: 'x', in: 'path', required: true, ...pattern }] }, 'of a path'],
  ['/more-than-0', body({ 'application/json': sent(positive) }, true), 'write `minimum`'],
]

test('each of what the service could not do is refused, and named', () => {
  const contract: Any = load(read('openapi.yaml'))
  const responses = { 204: { description: '' }, default: { description: '' } }
  for (const [path, operation] of refused) {
    const own = (operation as Any).responses
    const item = {
      operationId: path.replaceAll(/\W/g, ''),
      ...operation,
      responses: { ...responses, ...own },
    }
    contract.paths[path] = { get: item }
  }
  const file = join(newFolder(), 'openapi.yaml')
  writeFileSync(file, dump(contract))
  const command = [
    'openapi-typescript',
    file,
    '--redocly',
    '.redocly.yaml',
    '--output',
    `${file}.ts`,
  ]
  const { status, stderr } = spawnSync('npx', command, { cwd: root, encoding: 'utf8' })
  expect(status).toBe(1)
  for (const [path, , message] of refused) {
    const place = `at #/paths/${path.replaceAll('/', '~1')}`
    const found = stderr
      .split('\n')
      .filter((line) => line.includes(place) && line.includes(message))
    expect([path, found.length > 0]).toEqual([path, true])
  }
})
