// How user ids are made.
import { expect, test } from '@jest/globals'
import { createdAt, isUserId, newUserId } from '../../src/store/user-id.ts'
import { runToEnd } from '../support/program.ts'

test('ids ascend, however fast they are made, and begin with the time in seconds, as ObjectIds do', () => {
  const before = new Date().setMilliseconds(0)
  const ids = Array.from({ length: 200_000 }, newUserId)
  expect(ids.every(isUserId)).toBe(true)
  expect(ids.findIndex((id, i) => i > 0 && id <= ids[i - 1]!)).toBe(-1)
  expect(Number(createdAt(ids[0]))).toBeGreaterThanOrEqual(before)
  expect(createdAt('665f1c2e8b3f4a0012d4c001')).toEqual(new Date('2024-06-04T13:52:46Z'))
})

test('ids of several processes sort by creation within a second, too', () => {
  const program = new URL('../../dist/src/store/user-id.js', import.meta.url)
  const code = `import { newUserId } from '${program.href}'; console.log(newUserId())`
  const args = ['--input-type=module', '-e', code]
  const made = Array.from({ length: 5 }, () => runToEnd(process.execPath, args))
  expect(made).toEqual([...made].sort())
  expect(new Set(made.map((id) => id.slice(12))).size).toBe(5)
})
