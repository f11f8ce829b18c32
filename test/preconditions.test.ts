// ETag, If-None-Match and If-Match of users: what then happens, and which fields are malformed. (What names which ETag:
// chassis/preconditions.test.ts; conditional writes on each store: store/user-store.test.ts; the responses: examples.test.ts.)
import { expect, test } from '@jest/globals'
import { hash } from 'node:crypto'
import { contract } from '../src/contract.ts'
import { headerReader } from './chassis/support/internals.ts'
import { useService } from './support/service.ts'
import { sqlitePlace, useStore } from './support/stores.ts'
import { newUser } from './support/users.ts'

const ABSENT = '665f1c2e8b3f4a0012d4ffff'
const OTHER = '"LFu4Tr_XrBSMaJkfeA14hQwAIgYH3AXdVGusTT4-59A"'

const store = useStore(sqlitePlace)
const service = useService(store)
const create = () => store().create(newUser({ name: 'Ada' }))
const ask = (method: string, id: string, headers = {}) =>
  service().send(`${method} /users/${id}`, {
    headers,
    ...(method === 'PUT' && { json: { name: 'Grace' } }),
  })
const etag = async (id: string) => (await ask('GET', id)).headers.etag!

/** The fields, in which `TAG` is the ETag of the user, and the status with the user and without. */
type Row = [method: string, fields: Record<string, string>, status: number, without: number]

const fetched = { 'if-none-match': 'TAG', 'cache-control': 'no-cache' } // as fetch sends it
const reads: Row[] = [
  ['GET', fetched, 304, 404],
  ['HEAD', fetched, 304, 404],
  ['GET', { 'if-none-match': '*' }, 304, 404],
  ['GET', { 'if-none-match': OTHER }, 200, 404],
  ['GET', { 'if-none-match': '' }, 200, 404],
  ['GET', { 'if-match': 'TAG' }, 200, 404],
  ['GET', { 'if-match': OTHER }, 412, 404],
  ['GET', { 'if-match': 'x' }, 412, 404],
  ['GET', { 'if-match': OTHER, 'if-none-match': 'TAG' }, 412, 404], // RFC 9110 §13.2.2
]
const writes = ['PUT', 'DELETE'].flatMap((method): Row[] => [
  [method, { 'if-match': '*' }, 204, 404],
  [method, { 'if-none-match': OTHER }, 204, 404],
  [method, { 'if-none-match': OTHER, 'if-match': 'TAG' }, 204, 404],
  [method, { 'if-match': OTHER }, 412, 404],
  [method, { 'if-match': '' }, 412, 404], // it names no ETag
  [method, { 'if-none-match': '' }, 204, 404],
  [method, { 'if-match': OTHER, 'if-none-match': OTHER }, 412, 404],
  [method, { 'if-match': 'W/"x"' }, 412, 404],
  [method, { 'if-none-match': 'W/TAG' }, 412, 404],
  [method, { 'if-none-match': '*', 'if-match': 'TAG' }, 412, 404],
  [method, { 'if-match': 'x' }, 400, 400],
  [method, { 'if-match': '*', 'if-none-match': 'x' }, 400, 400],
])

test.each([...reads, ...writes])('%s with %j is %i, and without the user %i', async (...row) => {
  const [method, fields, status, without] = row
  const user = await create()
  const tag = await etag(user.id)
  const headers = Object.entries(fields).map(([name, value]) => [name, value.replace('TAG', tag)])
  const response = await ask(method, user.id, Object.fromEntries(headers))
  expect(response.status).toBe(status)
  if (status === 304) expect([response.text, response.headers.etag]).toEqual(['', tag])
  const changed = method === 'PUT' ? { ...user, name: 'Grace' } : undefined
  expect(await store().find(user.id)).toEqual(status === 204 ? changed : user)
  expect((await ask(method, ABSENT, Object.fromEntries(headers))).status).toBe(without)
})

test('the ETag of a POST, and of a GET, is that of the JSON that was sent', async () => {
  const created = await service().send('POST /users', { json: newUser() })
  for (const { text, headers } of [created, await ask('GET', created.json.id)])
    expect(headers.etag).toBe(`"${hash('sha256', text, 'base64url')}"`)
})

test('PUT with If-Match of a user that already has the name is 204, so that a client can send it again when no response came, also before the first is done, but 412 when If-None-Match names the user', async () => {
  const { id } = await create()
  const headers = { 'if-match': await etag(id) }
  const rename = async () => (await ask('PUT', id, headers)).status
  for (let times = 0; times < 2; times += 1)
    expect(await Promise.all([rename(), rename()])).toEqual([204, 204])
  expect((await store().find(id))?.name).toBe('Grace')
  expect((await ask('PUT', id, { ...headers, 'if-none-match': '*' })).status).toBe(412)
})

test('every operation of one user takes both preconditions', () => {
  const ofUser = contract.contents().operations.filter(({ path }) => path === '/users/{id}')
  const taken = ofUser.map(({ id, parameters }) => [
    id,
    ...parameters.filter((one) => one.in === 'header').map(({ name }) => name),
  ])
  expect(taken).toEqual(ofUser.map(({ id }) => [id, 'If-Match', 'If-None-Match']))
})

const read = headerReader(contract.operationOf('deleteUser'))

test.each([
  '*',
  '""',
  'W/"a"',
  '"a","b"',
  '"a,b" ,\t, W/"\x80\xff!~" , ',
  ', \t,"a"',
  '"a" ,'.repeat(3_000),
])('a write accepts the precondition %s', (field) => {
  const values = { 'If-Match': field, 'If-None-Match': field }
  expect(read({ 'if-match': field, 'if-none-match': field })).toEqual(values)
})

const MALFORMED =
  'a|"a|a"|"a" "b"|"a""b"|"a", *|*, "a"|**|w/"a"|W/a|W /"a"|"a b"|"a\x7f"|"a\u0100"|"a"\n|"a";"b"'
const ALL = MALFORMED.split('|')

test.each(ALL)('a write refuses the precondition "%s", and a read ignores it', (field) => {
  const message = 'If-None-Match must be `*` or ETags in double quotes, such as `"abc"`'
  const error = { status: 400, code: 'precondition_malformed', message }
  expect(() => read({ 'if-none-match': field })).toThrow(expect.objectContaining(error))
  const ofRead = headerReader(contract.operationOf('readUser'))
  expect(ofRead({ 'if-none-match': field })).toEqual({ 'If-None-Match': field })
})

const PARTS = [' ,', '\t', '"', 'W/', '"a",', '"a" ,', '"" , , ', '"a']
test.each(PARTS)(
  'a malformed precondition full of %s is refused as quickly as it is read',
  (part) => {
    const field = part.repeat(15_000 / part.length)
    for (const text of [`${field}x`, `"a"${field}x`, `"a",${field}"`])
      expect(() => read({ 'if-match': text })).toThrow('must be')
  },
)
