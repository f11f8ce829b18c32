// The host names that the service accepts.
import { expect, test } from '@jest/globals'
import { hostCheck } from '../../../src/chassis/http/hosts.ts'
import { useNotes } from '../support/notes.ts'

const LOCAL_IPS = ['127.0.0.1', '127.1.2.3:80', '[::1]:3000', '[0:0:0:0:0:0:0:1]']
const MAPPED = ['[::ffff:127.0.0.1]:80', '[::ffff:7f00:1]']
const NAMES = ['localhost', 'LOCALHOST:3000', 'a.localhost', 'localhost.:3000']
const LOCAL = [...NAMES, ...LOCAL_IPS, ...MAPPED]
const OTHER_IPS = ['10.0.0.1', '[::2]', '[::11]', '[::ffff:10.0.0.1]', '[::ffff:a00:1]', '']
const REMOTE = ['example.com', 'localhost.example.com', '127.0.0.1.example.com', ...OTHER_IPS]

test.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])(
  'on %s only loopback names are accepted',
  (bound) => {
    const isAllowedHost = hostCheck(bound, [])
    expect(LOCAL.filter((name) => !isAllowedHost(name))).toEqual([])
    expect(REMOTE.filter(isAllowedHost)).toEqual([])
  },
)

test('on loopback the allowed names are accepted too', () => {
  const isAllowedHost = hostCheck('127.0.0.1', ['Notes.example.com'])
  const names = ['notes.example.com:8080', 'localhost', 'example.com']
  expect(names.filter(isAllowedHost)).toEqual(names.slice(0, 2))
})

test.each(['0.0.0.0', '::', '10.0.0.1', '::ffff:10.0.0.1'])(
  'on %s every name is accepted, or only the allowed ones',
  (bound) => {
    expect([...LOCAL, ...REMOTE].every(hostCheck(bound, []))).toBe(true)
    const isAllowedHost = hostCheck(bound, ['notes.example.com'])
    expect(['notes.example.com', 'localhost'].map(isAllowedHost)).toEqual([true, false])
  },
)

const service = useNotes({}, { hostCheck: (bound) => hostCheck(bound, []) })

test.each([
  ['http://localhost/nothing', 'example.com', 404],
  ['http://example.com/nothing', 'localhost', 421],
  ['/nothing?http://example.com', 'localhost', 404],
])('the host of the target %s overrules the Host %s', async (target, host, status) => {
  expect((await service().send(`GET ${target}`, { headers: { host } })).status).toBe(status)
})
