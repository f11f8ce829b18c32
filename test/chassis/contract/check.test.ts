// A contract that never passed the generator: what the service would get wrong in silence is refused at the start.
import { expect, test } from '@jest/globals'
import { checkOperations, PATH, UNCHECKED } from '../../../src/chassis/contract/check.ts'
import { operationsOf } from '../../../src/chassis/contract/resolve.ts'
import { readYaml } from '../../support/readme.ts'

/** What is wrong with a contract of these paths. */
function problemOf(paths: object, others = {}): string {
  try {
    checkOperations(operationsOf({ paths, ...others }))
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

const text = { type: 'string' }
const list = { type: 'array', items: text }
const get = (operation = {}) => ({ get: { operationId: 'x', responses: {}, ...operation } })
const at = (path: string, ...parameters: object[]) => ({ [path]: get({ parameters }) })
const id = (others = {}) => ({ name: 'id', in: 'path', required: true, schema: text, ...others })
const inQuery = (schema: object, others = {}) =>
  at('/a', { name: 'q', in: 'query', schema, ...others })
const inPath = (schema: object, others = {}) => at('/{q}', id({ name: 'q', schema, ...others }))
const content = (...types: string[]) => ({
  content: Object.fromEntries(types.map((type) => [type, { schema: text }])),
})
const body = (required: boolean, ...types: string[]) => ({
  '/a': get({ requestBody: { required, ...content(...types) } }),
})
const schemaless = { required: true, content: { 'application/json': {} } }

test.each(
  '/notes:delete notes / /a/ /a//b /a{b} /{1} /a/../b /a/. /%61 /a?b'
    .split(' ')
    .map((path) => [path, at(path)] as const),
)('the path %s is refused', (path, paths) => {
  const message = 'write a path of names, and of parameters such as `/{id}`'
  expect(problemOf(paths)).toBe(`get ${path}: ${message}`)
})

const JSON_TYPE = 'application/json'
const UNREAD = 'the service does not read the parameter q like this'
const NAMES = 'write each parameter of the path once, with `in: path`'
const BODY =
  'get /a: write a body with `required: true` and application/json alone, and its `schema`'

test.each<[string, object, string]>([
  ['two equal paths', { ...at('/{a}', id({ name: 'a' })), '/{b}': get() }, '/{b} is the same path'],
  ['an operation without an id', { '/a': get({ operationId: undefined }) }, 'an `operationId`'],
  ['two operations of one id', { ...at('/a'), ...at('/b') }, 'get /a: two operations are x'],
  ['a misspelt method', { '/a': { gte: {} } }, '/a: gte is not a method'],
  ['a path in another file', { '/a': { $ref: 'a.yaml' } }, '/a: $ref is not a method'],
  ['a reference to another file', at('/a', { $ref: './paths' }), './paths leads nowhere'],
  ['a reference to nothing', at('/a', { $ref: '#/none/Note' }), '#/none/Note leads nowhere'],
  ['an undeclared parameter', at('/{id}'), `get /{id}: ${NAMES}`],
  ['a parameter that the path lacks', at('/a', id()), NAMES],
  ['a parameter twice in a path', at('/{id}/{id}', id()), NAMES],
  ['a cookie', inQuery(text, { in: 'cookie' }), UNREAD],
  ['an object in a query', inQuery({ type: 'object' }), UNREAD],
  ['lists in a list', inQuery({ type: 'array', items: list }), UNREAD],
  ['a list with commas', inQuery(list, { explode: false }), UNREAD],
  ['another style', inQuery(text, { style: 'deepObject' }), UNREAD],
  ['a boolean in a header', inQuery({ type: 'boolean' }, { in: 'header' }), UNREAD],
  ['a list in a header', inQuery(list, { in: 'header' }), UNREAD],
  ['a number in a path', inPath({ type: 'integer', minimum: 0, maximum: 9 }), UNREAD],
  ['a style in a path', inPath(text, { style: 'matrix' }), UNREAD],
  ['a pattern in a path', inPath({ ...text, pattern: '^a' }), UNREAD],
  [
    'a required parameter with a default',
    inQuery({ ...text, default: '' }, { required: true }),
    'get /a: write `required: true` or a `default` for q, not both',
  ],
  ['an optional body', body(false, JSON_TYPE), BODY],
  ['a body of two types', body(true, JSON_TYPE, 'text/csv'), BODY],
  ['a body without a schema', { '/a': get({ requestBody: schemaless }) }, BODY],
  ...['204', '205', '304', '100', '103', '1XX'].map((status): [string, object, string] => [
    `a response ${status} with a body`,
    { '/a': get({ responses: { [status]: content(JSON_TYPE) } }) },
    `get /a: HTTP has no response ${status} with a body`,
  ]),
  ['an interim response', { '/a': get({ responses: { 102: {} } }) }, 'none of 1xx from a handler'],
])('%s: the service does not start', (_, paths, problem) => {
  expect(problemOf(paths)).toContain(problem)
})

test.each<[string, unknown]>([
  ['no list', { key: [] }],
  ['nothing', null],
  ['a name', ['key']],
  ['an empty item', [null]],
  ['a list in a list', [[]]],
])('`security` that is %s protects nothing: the service does not start', (_, security) => {
  const problem = 'get /a: write `security` as a list of schemes, such as `- key: []`'
  expect(problemOf({ '/a': get({ security }) })).toBe(problem)
  expect(problemOf({ '/a': get() }, { security })).toBe(problem)
})

test('a misspelt field protects nothing: the service does not start', () => {
  const misspelt = { secuirty: [{ key: [] }], 'x-own': '' }
  const problem = 'secuirty is not a field of OpenAPI 3.0'
  expect(problemOf({ '/a': get(misspelt) })).toBe(`get /a: ${problem}`)
  expect(problemOf(at('/a'), misspelt)).toBe(`the contract: ${problem}`)
})

test('the start refuses the paths that the generator refuses', () => {
  const { rules } = readYaml('src/chassis/redocly.yaml')
  expect(PATH.source).toBe(rules['rule/path'].assertions.pattern)
  expect(UNCHECKED).toEqual(rules['rule/path-parameter'].assertions.disallowed)
})

test('what an operation says of a parameter comes before what its path says of all', () => {
  const ofPath = [id({ schema: { type: 'integer' } }), id({ name: 'of' })]
  const item = { parameters: ofPath, summary: '', 'x-a': 1, ...get({ parameters: [id()] }) }
  expect(problemOf({ '/{of}/{id}': item })).toBe('')
})
