// How user ids are made.
import { expect, test } from '@jest/globals'
import { isUserId, newUserId } from '../../src/store/user-id.ts'
import { runToEnd } from '../support/program.ts'

test('ids are unique and ascend, however fast they are made', () => {
  const ids = Array.from({ length: 200_000 }, newUserId)
  expect(ids.every(isUserId)).toBe(true)
  for (let i = 1; i < ids.length; i += 1) {
    if (ids[i]! <= ids[i - 1]!) throw new Error(`${ids[i]} after ${ids[i - 1]}`)
  }
})

test('an id is 24 lower-case hexadecimal digits, and nothing else', () => {
  const id = newUserId()
  const altered = [id.slice(1), `${id}0`, ` ${id}`, `${id}\n`, id.replace(/./, 'g')]
  const others = [...altered, id.toUpperCase()]
  expect([id, ...others].map(isUserId)).toEqual([true, ...others.map((other) => other === id)])
})

test('ids start with the second they were made in, as ObjectIds do', () => {
  const before = Math.floor(Date.now() / 1000)
  const second = Number.parseInt(newUserId().slice(0, 8), 16)
  expect(second).toBeGreaterThanOrEqual(before)
})

test('ids of several processes sort by creation within a second, too', () => {
  const program = new URL('../../dist/src/store/user-id.js', import.meta.url)
  const made = []
  for (let i = 0; i < 5; i += 1) {
    const code = `import { newUserId } from '${program.href}'; console.log(newUserId())`
    made.push(runToEnd(process.execPath, ['--input-type=module', '-e', code]))
  }
  expect(made).toEqual([...made].sort())
  expect(new Set(made.map((id) => id.slice(12))).size).toBe(5)
})
