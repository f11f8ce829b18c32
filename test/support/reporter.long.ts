// A run of jest in which a test file never ends.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder, root } from './readme.ts'

test('a run ends with 1, and names the file that does not end', () => {
  const folder = newFolder()
  const reporters = [[join(root, 'test/support/reporter.mjs'), { minutes: 0.75 }]]
  const files = {
    'package.json': JSON.stringify({ jest: { reporters, maxWorkers: 2 } }),
    'ends.test.js': "test('ends', () => {})",
    'hangs.test.js': "test('ends', () => {}); for (;;);",
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const options = { cwd: folder, encoding: 'utf8' } as const
  const { status, stderr } = spawnSync(join(root, 'node_modules/.bin/jest'), options)
  const hanging = `These files did not end:\n${join(folder, 'hangs.test.js')}\n`
  expect([status, stderr]).toEqual([1, `\nNothing was reported for 0.75 minutes. ${hanging}`])
})
