// What the log and the traces show of a path. (What they show in any service: chassis/telemetry/request-log.test.ts.)
import { expect, test } from '@jest/globals'
import { redactPath } from '../src/redact-path.ts'
import { pathRedactor } from './chassis/support/internals.ts'
import { newUserId } from '../src/store/user-id.ts'

const id = newUserId()

// SECURITY.md: The service reveals nothing.
test.each([
  [`/users/${id}?email=ada@example.com`, `/users/${id}`],
  ['/users/ada@example.com', '/users/…'],
  ['/api/users/ada', '/api/users/…'],
  [`/users/users/${id}`, `/users/users/${id}`],
  [`/users/ada/${id}`, '/users/…'],
  ['/USERS/ada', '/USERS/…'],
  ['/users%2fada', '/…'],
  ['/wp-login.php', '/wp-login.php'],
])('%s is shown as %s: of users, only ids', (url, path) => {
  expect(pathRedactor(redactPath)(url)).toBe(path)
})
