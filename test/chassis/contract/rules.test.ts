// What the service could not do as the contract says: `npm run generate` refuses it, by .redocly.yaml and src/chassis/redocly.yaml.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder, readYaml, root } from '../../support/readme.ts'

/** A part of an operation, and its place there. */
type Part = [operation: object, place: string]
const schema = { type: 'string' }
const JSON_TYPE = 'application/json'
const ETAG = '#/components/headers/ETag'

const body = (content: object, fields: object = { required: true }): Part => {
  return [{ requestBody: { content, ...fields } }, '/requestBody']
}
const sent = (fields: object): Part => {
  const [operation, place] = body({ [JSON_TYPE]: { schema: { type: 'object', ...fields } } })
  return [operation, `${place}/content/application~1json/schema`]
}
const field = (x: object): Part => {
  const [operation, place] = sent({ properties: { x } })
  return [operation, `${place}/properties/x`]
}
const integer = (fields: object) => field({ type: 'integer', minimum: 0, maximum: 9, ...fields })
const parameter = (fields: object): Part => {
  return [{ parameters: [{ name: 'x', in: 'query', schema, ...fields }] }, '/parameters/0']
}
const response = (fields: object): Part => {
  return [{ responses: { 200: { description: '', ...fields } } }, '/responses/200']
}
const types = (...names: string[]) =>
  response({ content: Object.fromEntries(names.map((name) => [name, { schema }])) })
const array = { type: 'array', items: schema }
const object = { type: 'object', properties: {} }
const returned = response({ content: { [JSON_TYPE]: { schema: object } } })

const accepted: Part[] = [
  ...['date-time', 'date', 'uuid', 'email', 'uri'].flatMap((format) => [
    field({ type: 'string', format }),
    response({ content: { [JSON_TYPE]: { schema: { type: 'string', format } } } }),
    parameter({ schema: { type: 'string', format } }),
  ]),
  parameter({ schema: { type: 'boolean', default: true }, style: 'form', explode: true }),
  parameter({ schema: { ...array, default: ['x'] } }),
  parameter({ schema: { type: 'array', items: { type: 'integer', minimum: 0, maximum: 9 } } }),
  parameter({ required: true }),
  parameter({ in: 'header', required: true, style: 'simple', explode: false }),
]

/** Some of what is refused: the rule, a part, and the place in it; the path, unless that is a number. */
const refused: [rule: string, part: Part, place: string, path?: string][] = [
  ['spec-strict-refs', response({ headers: { $ref: ETAG } }), '/headers/$ref'],
  ['reference', field({ $ref: '#/components/schemas/a~1b' }), '/$ref'],
  ['reference', field({ $ref: '#/components/schemas/a%20b' }), '/$ref'],
  ['reference', field({ $ref: 'other.yaml#/components/schemas/Note' }), '/$ref'],
  ['optional-parameter', parameter({ examples: {} }), '/examples'],
  ['optional-parameter-example', parameter({ example: 'x' }), '/example'],
  ['optional-header', response({ headers: { X: { schema, example: 'x' } } }), '/headers/X/example'],
  ['format', field({ type: 'string', format: 'ipv4' }), '/format'],
  ['default', [{ responses: { default: undefined } }, ''], '/responses'],
  ['other-fields', returned, '/content/application~1json/schema/additionalProperties'],
  ['path', [{}, ''], '', '/a:b'],
  ['path-parameter', parameter({ in: 'path', schema: { ...schema, enum: [] } }), '/schema/enum'],
  ['body-default', field({ type: 'string', default: 'x' }), '/default'],
  ['one-way', field({ type: 'string', readOnly: true }), '/readOnly'],
  ['exclusive', integer({ exclusiveMinimum: true }), '/exclusiveMinimum'],
  ['multiple', integer({ multipleOf: 1.5 }), '/multipleOf'],
  ['key', field({ type: 'object', properties: { toString: schema } }), '/properties/toString'],
  ['key', response({ headers: { ['__proto__']: { schema } } }), '/headers/__proto__'],
  ['name', parameter({ name: '__proto__' }), '/name'],
  ['name', [{ operationId: '__proto__' }, ''], '/operationId'],
  ['parameter-place', parameter({ in: 'cookie' }), '/in'],
  ['parameter-schema', parameter({ schema: undefined, content: {} }), '/schema'],
  [
    'parameter-default',
    parameter({ required: true, schema: { ...schema, default: 'x' } }),
    '/schema/default',
  ],
  ['parameter-style', parameter({ style: 'pipeDelimited' }), '/style'],
  ['parameter-style', parameter({ in: 'path', style: 'matrix' }), '/style'],
  ['query-explode', parameter({ style: 'form', explode: false }), '/explode'],
  ['query-type', parameter({ schema: object }), '/schema/type'],
  ['query-items', parameter({ schema: { type: 'array', items: object } }), '/schema/items/type'],
  ['text-type', parameter({ in: 'header', schema: object }), '/schema/type'],
  ['body-required', body({ [JSON_TYPE]: { schema } }, {}), '/required'],
  ['body-type', body({ 'image/png': { schema } }), '/content/image~1png'],
  ['body-json', body({ [JSON_TYPE]: {} }), '/content/application~1json/schema'],
  ['body-schema', field({ type: 'object', allOf: [object] }), '/allOf'],
  ['body-fields', sent({ additionalProperties: true }), '/additionalProperties'],
  ['type', field({}), ''],
  ['map', field({ type: 'object', additionalProperties: schema }), '/additionalProperties'],
  ['minimum', integer({ minimum: undefined }), '/minimum'],
  ['minimum', integer({ minimum: -(2 ** 53) }), '/minimum'],
  ['maximum', integer({ maximum: undefined }), '/maximum'],
  ['maximum', integer({ maximum: 2 ** 53 }), '/maximum'],
  ['one-media-type', types('image/png', 'image/webp'), '/content'],
  ['one-media-type', types('image/*'), '/content/image~1*'],
  ['lines', types('application/x-ndjson'), '/content'],
  ['lines', types(JSON_TYPE, 'application/x-ndjson', 'text/csv'), '/content'],
  ['stored-type', field({ type: 'array', items: { type: 'boolean' } }), '/items/type'],
]

const rules: Record<string, { message?: string; assertions?: { notPattern: string } }> = {
  ...readYaml('src/chassis/redocly.yaml').rules,
  ...readYaml('.redocly.yaml').rules,
}
const messageOf = (rule: string) =>
  (rules[rule] ?? rules[`rule/${rule}`])?.message ?? 'Field $ref is not expected here.'

test('each of what the service could not do is refused by one rule, which names its place', () => {
  const contract = { ...readYaml('openapi.yaml'), openapi: '3.0' }
  const expected = [`${messageOf('version')} at #/openapi`]
  for (const [i, [fields]] of accepted.entries()) {
    const responses = {
      204: { description: '' },
      default: { description: '' },
      ...Object(fields).responses,
    }
    contract.paths[`/accepted/${i}`] = { get: { operationId: `y${i}`, ...fields, responses } }
  }
  for (const [i, [rule, [fields, at], place, path = `/${i}`]] of refused.entries()) {
    const { responses }: { responses?: object } = fields
    const all = { 204: { description: '' }, default: { description: '' }, ...responses }
    contract.paths[path] = { get: { operationId: `x${i}`, ...fields, responses: all } }
    const inPath = rule === 'path' ? '' : `/get${at}${place}`
    expected.push(`${messageOf(rule)} at #/paths/${path.replaceAll('/', '~1')}${inPath}`)
  }
  const file = join(newFolder(), 'openapi.yaml')
  writeFileSync(file, JSON.stringify(contract))
  const command = ['openapi-typescript', file, '--redocly', '.redocly.yaml', '-o', `${file}.ts`]
  const log = openSync(`${file}.log`, 'w') // the program exits before a pipe has taken all lines
  spawnSync('npx', command, { cwd: root, stdio: ['ignore', 'ignore', log] })
  const messages = new Set(Object.keys(rules).map(messageOf)) // others are of rules of Redocly
  const lines = readFileSync(`${file}.log`, 'utf8')
    .split('\n')
    .map((line) => line.replace(/^ *✘ */, ''))
  const own = lines.filter((line) => messages.has(line.replace(/ at #\/.*/, '')))
  expect(own.toSorted()).toEqual(expected.toSorted())
})

test('each rule is in the table, and says what to write instead', () => {
  const inTable = ['version', ...refused.map(([rule]) => rule)]
  const names = Object.keys(rules).map((name) => name.replace('rule/', ''))
  expect(new Set(inTable)).toEqual(new Set(names))
  for (const { message } of Object.values(rules))
    if (message) expect(message).toMatch(/: .*(write|describe|leave)/)
})

test('README lists the rules of the chassis, and no others', () => {
  const readme = readFileSync(join(root, 'src/chassis/README.md'), 'utf8')
  const [, list = ''] = /## What a contract cannot have\n([^]*?)\n## /.exec(readme)!
  const named = [...list.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name)
  const names = Object.keys(readYaml('src/chassis/redocly.yaml').rules)
  const keywords = ['content', 'not'] // these are refused, and no rule has their name
  const expected = [...keywords, ...names.map((name) => name.replace('rule/', ''))]
  expect(new Set(named)).toEqual(new Set(expected))
})

// Not in the table: Redocly ends with an error of its own when a field has some of these names.
test('each name that all objects have is refused, but for those of methods that nobody uses', () => {
  const names = Object.getOwnPropertyNames(Object.prototype)
  const refusal = new RegExp(rules['rule/key']!.assertions!.notPattern)
  expect(names.filter((name) => !refusal.test(name) && !/^__.*er__$/.test(name))).toEqual([])
})
