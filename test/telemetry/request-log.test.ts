// What the line of a request shows. (When it is written: test/http/server.test.ts.)
import { expect, test } from '@jest/globals'
import { impersonalPath } from '../../src/telemetry/request-log.ts'
import { newUserId } from '../../src/store/user-id.ts'

const id = newUserId()

test.each([
  ['/users', '/users'],
  [`/users/${id}`, `/users/${id}`],
  [`/users/${id}?email=ada@example.com`, `/users/${id}`],
  ['/users/ada@example.com', '/users/…'],
  ['/users/Ada%20Lovelace', '/users/…'],
  [`/users/${id}/ada`, '/users/…'],
  [`/users/${id.toUpperCase()}`, '/users/…'],
  ['/api/users/ada', '/api/users/…'],
  ['/USERS/ada', '/USERS/…'],
  ['/accounts/ada@example.com/edit', '/accounts/…/edit'],
  ['/accounts/ada%40example.com', '/accounts/…'],
  ['/wp-login.php', '/wp-login.php'],
])('%s is shown as %s: of users, only ids', (url, path) => {
  expect(impersonalPath(url)).toBe(path)
})

test('a path of any length is shown at once', () => {
  const path = `/${'a'.repeat(1_000_000)}`
  expect(impersonalPath(path)).toBe(path)
})
