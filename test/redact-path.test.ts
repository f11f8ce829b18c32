// What the log and traces show of the paths of users.
import { expect, test } from '@jest/globals'
import { redactPath as redactIds } from '../src/redact-path.ts'
import { newUserId } from '../src/store/user-id.ts'
import { pathRedactor } from './chassis/support/internals.ts'

const id = newUserId()
const redactPath = pathRedactor(redactIds)

// SECURITY.md: The service reveals nothing.
test.each([
  [`/users/${id}?email=ada@example.com`, `/users/${id}`],
  ['/users/ada@example.com', '/users/…'],
  ['/api/users/ada', '/api/users/…'],
  [`/users/users/${id}`, `/users/users/${id}`],
  [`/users/ada/${id}`, '/users/…'],
  ['/USERS/ada', '/USERS/…'],
  ['/users%2fada', '/…'],
  ['/accounts/ada@example.com/edit', '/accounts/…/edit'],
  ['/accounts/ada%40example.com', '/accounts/…'],
  ['/accounts/ada%2540example.com', '/accounts/…'],
  ['/wp-login.php', '/wp-login.php'],
])('%s is shown as %s: of users, only ids', (url, path) => {
  expect(redactPath(url)).toBe(path)
})
