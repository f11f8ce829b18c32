// SECURITY.md: each limit that it states has the test that it names.
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const read = (file: string) => readFileSync(root + file, 'utf8')

const rows = read('SECURITY.md').matchAll(/^\| (.+?) +\|.*\| `(test\/\w+\.test\.ts)`: (.+?) +\|$/gm)

test.each([...rows].map(([, limit, file, name]) => [limit!, file!, name!]))(
  '%s: the limit is tested, in %s',
  (_, file, name) => {
    expect(read(file)).toContain(name)
  },
)

test('every row of the limits is looked at', () => {
  const [, limits] = read('SECURITY.md').split('\n## Limits\n')
  const [table] = limits!.trim().split('\n\n')
  expect([...read('SECURITY.md').matchAll(/^\| .*`test\/\w+\.test\.ts`: .*\|$/gm)]).toHaveLength(
    table!.split('\n').length - 2,
  )
})

test.each([...new Set(read('SECURITY.md').match(/test\/\w+\.test\.ts/g))])(
  '%s is there',
  (file) => {
    expect(read(file)).not.toBe('')
  },
)
