// SECURITY.md states the limits of the code.
import { expect, test } from '@jest/globals'
import http from 'node:http'
import { LIMITS, SERVER_LIMITS } from './chassis/support/internals.ts'
import { PAGE_BYTES } from '../src/store/pages.ts'
import { read } from './support/readme.ts'

const security = read('SECURITY.md')

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
  ['A handler whose client has left', `${SERVER_LIMITS.abandonedAfter / 1_000} s`],
  ['Connections to the port for operators', `${LIMITS.maxOperatorConnections}`],
])('%s: %s, as SECURITY.md says', (limit, value) => {
  const row = security.match(new RegExp(`^- \\*\\*${limit}\\*\\*: (.*)`, 'm'))
  expect(row?.[1]).toContain(value)
})
