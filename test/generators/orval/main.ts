// Uses the client that orval makes; test/generators.suite.ts says what a program does.
import { deepStrictEqual as expectEqual } from 'node:assert'
import { createUser, deleteUser, listUsers, login, readUser, renameUser } from './api'

const email = 'ada+lovelace@example.com'
const withToken = (token = process.env['TOKEN']) => ({
  headers: { Authorization: `Bearer ${token}` },
})

async function main(): Promise<void> {
  const created = await createUser({ name: 'Ada', email }, withToken())
  if (created.status !== 201) throw new Error(created.data.message)
  const ada = created.data
  expectEqual(ada, { id: ada.id, name: 'Ada', email })
  expectEqual(created.headers.get('Location'), `/users/${ada.id}`)
  const taken = await createUser({ name: 'Ada', email }, withToken())
  const message = `a user with email \`${email}\` already exists`
  expectEqual([taken.status, taken.data], [400, { message }])
  const grace = await createUser({ name: 'Grace', email: 'grace@example.com' }, withToken())

  const read = await readUser(ada.id, {}, withToken())
  expectEqual(read.data, ada)
  const etag = read.headers.get('ETag')!
  const same = await readUser(ada.id, { 'If-None-Match': etag }, withToken())
  expectEqual([same.status, same.headers.get('ETag')], [304, etag])

  const match = { 'If-Match': etag }
  const renamed = await renameUser(ada.id, { name: 'Augusta' }, match, withToken())
  expectEqual(renamed.status, 204)
  const changed = await renameUser(ada.id, { name: 'Ada' }, match, withToken())
  if (changed.status !== 412) throw new Error(`412 is expected, not ${changed.status}`)
  expectEqual(changed.data.message, 'the precondition in If-Match or If-None-Match failed')
  ada.name = 'Augusta'
  expectEqual((await readUser(ada.id, {}, withToken())).data, ada)

  expectEqual((await listUsers({}, withToken())).data, [ada, grace.data])
  const first = await listUsers({ limit: 1 }, withToken())
  expectEqual(first.data, [ada])
  const after = /after=(\w+)/.exec(first.headers.get('Link')!)![1]!
  const second = await listUsers({ limit: 1, after }, withToken())
  expectEqual([second.data, second.headers.get('Link')], [[grace.data], null])

  const loggedIn = await login({ email })
  if (loggedIn.status !== 200) throw new Error(loggedIn.data.message)
  expectEqual((await listUsers({ email }, withToken(loggedIn.data.token))).data, [ada])
  const unknown = await login({ email: 'nobody@example.com' })
  expectEqual([unknown.status, unknown.data], [401, { message: 'no user has this email' }])
  const refused = await listUsers({}, withToken('none'))
  expectEqual(
    [refused.status, refused.data],
    [401, { message: 'a valid bearer token is required' }],
  )

  expectEqual((await deleteUser(ada.id, {}, withToken())).status, 204)
  const gone = await readUser(ada.id, {}, withToken())
  expectEqual([gone.status, gone.data], [404, { message: 'no user has this id' }])
}

void main()
