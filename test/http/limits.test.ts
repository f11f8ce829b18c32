// SECURITY.md: each limit that it states has the test that it names.
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { LIMITS } from '../../src/http/limits.ts'
import { MIN_SECRET_BYTES } from '../../src/auth/tokens.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (file: string) => readFileSync(root + file, 'utf8')

const rows = read('SECURITY.md').matchAll(
  /^\| (.+?) +\|.*\| `(test\/[\w./-]+\.test\.ts)`: (.+?) +\|$/gm,
)

test.each([...rows].map(([, limit, file, name]) => [limit!, file!, name!]))(
  '%s: the limit is tested, in %s',
  (_, file, name) => {
    expect(read(file)).toContain(name)
  },
)

const { headersTimeout, requestTimeout, timeout, responseTimeout, keepAliveTimeout } = LIMITS
test.each([
  ['Time for the headers', `${headersTimeout / 1_000} s`],
  ['Time for headers and body', `${requestTimeout / 1_000} s`],
  ['A connection without a byte either way', `${timeout / 1_000} s`],
  ['Time to read a response', `${responseTimeout / 60_000} min`],
  ['An idle connection', `${keepAliveTimeout / 1_000} s`],
  ['Connections', LIMITS.maxConnections.toLocaleString('en')],
  ['Headers', `${LIMITS.maxHeaders}`],
  ['Waiting requests of one connection', `${LIMITS.waitingRequests}`],
  ['Request line and headers', `${http.maxHeaderSize / 1_024} KiB`],
  ['A signing secret', `${MIN_SECRET_BYTES} bytes`],
])('%s: %s, as SECURITY.md says', (limit, value) => {
  const row = read('SECURITY.md').match(new RegExp(`^\\| ${limit} +\\| (.*?) \\|`, 'm'))
  expect(row?.[1]).toMatch(new RegExp(`^${value}\\b`))
})

test('every row of the limits names a test', () => {
  const [, limits] = read('SECURITY.md').split('\n## Limits\n')
  const [table] = limits!.trim().split('\n\n')
  expect([
    ...read('SECURITY.md').matchAll(/^\| .*`test\/[\w./-]+\.test\.ts`: .*\|$/gm),
  ]).toHaveLength(table!.split('\n').length - 2)
})

test.each([...new Set(read('SECURITY.md').match(/test\/[\w./-]+\.test\.ts/g))])(
  '%s is there',
  (file) => {
    expect(read(file)).not.toBe('')
  },
)
