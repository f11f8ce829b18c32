// What the log and the traces show of a path. (What they show in any service: chassis/telemetry/request-log.test.ts.)
import { expect, test } from '@jest/globals'
import { redactPath } from '../src/redact-path.ts'
import { contract } from '../src/contract.ts'
import { pathRedactor } from './chassis/support/internals.ts'
import { newUserId } from '../src/store/user-id.ts'

const id = newUserId()

const paths = contract.contents().operations.map(({ path }) => path)

test('an id is shown if the base path is /users, too', () => {
  const url = `/users/users/${id}`
  expect(pathRedactor(paths, '/users', redactPath)(url)).toBe(url)
})

// SECURITY.md: The service reveals nothing.
test.each([
  [`/users/${id}?email=ada@example.com`, `/users/${id}`],
  ['/users/ada@example.com', '/users/…'],
  ['/users/grace.hopper', '/users/…'],
  [`/users/ada/${id}`, '/users/…'],
  ['/user/grace.hopper', '/…/…'],
  [`/verify/${id}`, '/…/…'],
  ['/login/ada', '/login/…'],
  ['/USERS/ada', '/…/…'],
])('%s is shown as %s: of users, only ids', (url, path) => {
  for (const base of ['', '/api'])
    expect(pathRedactor(paths, base, redactPath)(base + url)).toBe(base + path)
})
