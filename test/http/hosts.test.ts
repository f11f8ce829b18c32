// The host names that the service answers to.
import { expect, test } from '@jest/globals'
import { hostCheck } from '../../src/http/hosts.ts'

const LOCAL = [
  'localhost',
  'LOCALHOST:3000',
  'a.localhost',
  '127.0.0.1',
  '127.1.2.3:80',
  '[::1]:3000',
]
const REMOTE = [
  'example.com',
  'localhost.example.com',
  '127.0.0.1.example.com',
  '10.0.0.1',
  '[::2]',
  '',
]

test.each(['127.0.0.1', 'localhost', '::1'])('on %s only loopback names are accepted', (bound) => {
  const isHere = hostCheck(bound, [])
  expect(LOCAL.filter((name) => !isHere(name))).toEqual([])
  expect(REMOTE.filter(isHere)).toEqual([])
})

test('on loopback the allowed names are accepted too', () => {
  const isHere = hostCheck('127.0.0.1', ['Users.example.com'])
  expect(['users.example.com:8080', 'localhost', 'example.com'].map(isHere)).toEqual([
    true,
    true,
    false,
  ])
})

test('on another address every name is accepted, or only the allowed ones', () => {
  expect([...LOCAL, ...REMOTE].every(hostCheck('0.0.0.0', []))).toBe(true)
  const isHere = hostCheck('0.0.0.0', ['users.example.com'])
  expect(['users.example.com', 'localhost'].map(isHere)).toEqual([true, false])
})
