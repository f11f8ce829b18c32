// Uses the client that @hey-api/openapi-ts makes; test/generators.suite.ts says what a program does.
import { deepStrictEqual as expectEqual } from 'node:assert'
import { createUser, deleteUser, listUsers, login, readUser, renameUser } from './api'
import { client } from './api/client.gen'

const email = 'ada+lovelace@example.com'
client.setConfig({ baseUrl: process.env['URL']!, auth: process.env['TOKEN']! })

async function main(): Promise<void> {
  const created = await createUser({ body: { name: 'Ada', email } })
  const ada = created.data!
  const path = { id: ada.id }
  expectEqual([created.response!.status, ada.name, ada.email], [201, 'Ada', email])
  expectEqual(created.response!.headers.get('Location'), `/users/${ada.id}`)
  const taken = await createUser({ body: { name: 'Ada', email } })
  expectEqual(taken.response!.status, 400)
  expectEqual(taken.error!.message, `a user with email \`${email}\` already exists`)
  expectEqual(taken.error!.code, 'email_taken')
  const grace = (await createUser({ body: { name: 'Grace', email: 'grace@example.com' } })).data!

  const read = await readUser({ path })
  expectEqual(read.data, ada)
  const etag = read.response!.headers.get('ETag')!
  const same = await readUser({ path, headers: { 'If-None-Match': etag } })
  expectEqual([same.response!.status, same.response!.headers.get('ETag')], [304, etag])

  const headers = { 'If-Match': etag }
  const renamed = await renameUser({ path, headers, body: { name: 'Augusta' } })
  expectEqual(renamed.response!.status, 204)
  const changed = await renameUser({ path, headers, body: { name: 'Ada' } })
  expectEqual(changed.response!.status, 412)
  expectEqual(changed.error!.message, 'the precondition in If-Match or If-None-Match failed')
  expectEqual(changed.error!.code, 'precondition_failed')
  ada.name = 'Augusta'
  expectEqual((await readUser({ path })).data, ada)

  expectEqual((await listUsers()).data, [ada, grace])
  const first = await listUsers({ query: { limit: 1 } })
  expectEqual(first.data, [ada])
  const after = /after=(\w+)/.exec(first.response!.headers.get('Link')!)![1]!
  const second = await listUsers({ query: { limit: 1, after } })
  expectEqual([second.data, second.response!.headers.get('Link')], [[grace], null])

  const { token } = (await login({ body: { email } })).data!
  expectEqual((await listUsers({ auth: token, query: { email } })).data, [ada])
  const unknown = await login({ body: { email: 'nobody@example.com' } })
  expectEqual([unknown.response!.status, unknown.error!.message], [401, 'no user has this email'])
  expectEqual(unknown.error!.code, 'email_not_found')
  const refused = await listUsers({ auth: 'none' })
  expectEqual(refused.response!.status, 401)
  expectEqual(refused.error!.message, 'a valid bearer token is required')
  expectEqual(refused.error!.code, 'unauthorized')

  expectEqual((await deleteUser({ path })).response!.status, 204)
  const gone = await readUser({ path })
  expectEqual([gone.response!.status, gone.error!.message], [404, 'no user has this id'])
  expectEqual(gone.error!.code, 'a_later_code')
}

void main()
