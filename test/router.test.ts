// Which path and method lead where: the response to each request, without a token and with one.
import { expect, test } from '@jest/globals'
import { useService } from './support/service.ts'
import { sqlitePlace, useStore } from './support/stores.ts'

const service = useService(useStore(sqlitePlace))
const ID = '665f1c2e8b3f4a0012d4c001'
/** `users`, with its first letter percent-encoded. */
const ENCODED = 'users'.replace(/./, (letter) => `%${letter.charCodeAt(0).toString(16)}`)

test.each`
  request                             | withoutToken  | withToken
  ${'GET /users'}                     | ${401}        | ${200}
  ${'POST /users'}                    | ${401}        | ${400}
  ${`GET /users/${ID}`}               | ${401}        | ${404}
  ${'PUT /users'}                     | ${401}        | ${'405 HEAD, GET, POST'}
  ${'GET /login'}                     | ${'405 POST'} | ${'405 POST'}
  ${'GET /'}                          | ${404}        | ${404}
  ${'OPTIONS *'}                      | ${404}        | ${404}
  ${'GET /USERS'}                     | ${404}        | ${404}
  ${'GET /users/'}                    | ${401}        | ${404}
  ${`GET /users/${ID}/name`}          | ${401}        | ${404}
  ${'GET //users'}                    | ${401}        | ${404}
  ${`GET /${ENCODED}`}                | ${404}        | ${404}
  ${`GET /users%2F${ID}`}             | ${401}        | ${404}
  ${'GET /x/../users'}                | ${401}        | ${404}
  ${'GET /users;x'}                   | ${401}        | ${404}
  ${'GET /api/users'}                 | ${401}        | ${404}
  ${'GET /?/users'}                   | ${404}        | ${404}
  ${'GET /users?x=/nothing'}          | ${401}        | ${400}
  ${'GET http://example.com/users'}   | ${401}        | ${200}
  ${'GET HTTP://example.com/users?x'} | ${401}        | ${400}
  ${'GET http://example.com?/users'}  | ${404}        | ${404}
`('$request', async ({ request, withoutToken, withToken }) => {
  const anonymous = { authorization: undefined }
  expect(await statusAndAllow(String(request), anonymous)).toBe(String(withoutToken))
  expect(await statusAndAllow(String(request))).toBe(String(withToken))
})

async function statusAndAllow(request: string, options?: object): Promise<string> {
  const { status, headers } = await service().send(request, options)
  return [status, headers.allow].filter(Boolean).join(' ')
}
