// The path of a request target without the base path of the service.
import { expect, test } from '@jest/globals'
import { withoutBasePath } from '../../src/http/target.ts'

test.each([
  ['/api/users', '/users'],
  ['/api/users?limit=1', '/users?limit=1'],
  ['/api/api/users', '/api/users'],
  ['/api/', '/'],
  ['/api', '/'],
  ['/api?x=/api/', '/?x=/api/'],
  ['/api//users', '//users'],
  ['http://api/api/users?x', 'http://api/users?x'],
  ['HTTPS://x:80/api', 'HTTPS://x:80/'],
])('/api is removed from %s', (target, rest) => {
  expect(withoutBasePath(target, '/api')).toBe(rest)
})

const OTHERS =
  '/users /apiusers /api. /api%2Fusers /API/users //api/users /x/api/users /./api/users /%61pi/users /api;x/users ' +
  '* / /?/api/ http://api http://api/users http://x?/api/users api/users'
test.each(['', ...OTHERS.split(' ')])('/api is not removed from %s', (target) => {
  expect(withoutBasePath(target, '/api')).toBe(target)
})
