// SECURITY.md: each limit that it states has the test that it names.
import { expect, test } from '@jest/globals'
import http from 'node:http'
import { LIMITS, SERVER_LIMITS } from '../../src/http/limits.ts'
import { PAGE_BYTES } from '../../src/store/pages.ts'
import { read } from '../support/readme.ts'

const security = read('SECURITY.md')
const ROW = /^\| (.+?) +\|.*\| `(test\/[\w./-]+\.test\.ts)`: (.+?) +\|$/gm
const rows = [...security.matchAll(ROW)]

const NAMED = rows.map(([, ...row]) => row as [limit: string, file: string, name: string])
test.each(NAMED)('%s: the limit is tested, in %s', (_, file, name) => {
  expect(read(file)).toContain(name)
})

const time = (name: 'requestTimeout' | 'headersTimeout' | 'timeout' | 'keepAliveTimeout') =>
  `${SERVER_LIMITS[name] / 1_000} s`
const headerSize = `${http.maxHeaderSize / 1_024} KiB`
test.each([
  ['Body', `in at most ${LIMITS.maxChunks.toLocaleString('en')} chunks`],
  ['Connections', `${SERVER_LIMITS.maxConnections}`],
  ['Waiting requests of one connection', `${SERVER_LIMITS.maxWaitingRequests}`],
  ['Bodies over 4 KB', `${LIMITS.maxLargeBodies}`],
  ['A page of a list', `${PAGE_BYTES / 1_024} KiB`],
  ['Request line and headers', `${headerSize} together, and ${LIMITS.maxHeaders}`],
  ['Time for headers and body', `${time('requestTimeout')}, of which ${time('headersTimeout')}`],
  ['A silent connection', `${time('timeout')}; ${time('keepAliveTimeout')}`],
  ['Connections to the port for operators', `${LIMITS.maxOperatorConnections}`],
])('%s: %s, as SECURITY.md says', (limit, value) => {
  const row = security.match(new RegExp(`^\\| ${limit} +\\| (.*?) \\|`, 'm'))
  expect(row?.[1]).toContain(value)
})

test('every row of the limits names a test', () => {
  const [, limits] = security.split('\n## Limits\n')
  const [table] = limits!.trim().split('\n\n')
  expect(rows.length).toBe(table!.split('\n').length - 2)
})

test.each([...new Set(security.match(/test\/[\w./-]+\.test\.ts/g))])('%s is there', (file) => {
  expect(read(file)).not.toBe('')
})
