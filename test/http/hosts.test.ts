// The host names that the service answers to.
import { expect, test } from '@jest/globals'
import { hostCheck } from '../../src/http/hosts.ts'
import { parseAnswers, startService } from '../support/service.ts'
import { sqlitePlace, useStore } from '../support/stores.ts'

const LOCAL = [
  'localhost',
  'LOCALHOST:3000',
  'a.localhost',
  'localhost.:3000',
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

const store = useStore(sqlitePlace)

test.each([
  ['http://localhost/nothing', 'example.com', 404],
  ['http://example.com/nothing', 'localhost', 421],
  ['/nothing?http://example.com', 'localhost', 404],
])('the host of the target %s overrules the Host %s', async (target, host, status) => {
  const service = await startService(store(), { isHere: hostCheck('127.0.0.1', []) })
  const bytes = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  expect(parseAnswers(await service.exchange(bytes))).toMatchObject([{ status }])
  await service.close()
})
