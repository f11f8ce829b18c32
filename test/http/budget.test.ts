// The budget of memory: who must give back what, and what may be worked on.
import { expect, test } from '@jest/globals'
import { setImmediate as turn } from 'node:timers/promises'
import { Budget } from '../../src/http/budget.ts'

/** A budget of 100 bytes, of which 50 may be worked on, and a function that makes holders by name. */
function budget() {
  const memory = new Budget({
    memory: 100,
    complete: 90,
    work: 50,
    smallPart: 10,
    smallWork: 10,
  })
  const events: string[] = []
  const holder = (name: string) => ({ giveUp: () => void events.push(`${name} gives up`) })
  const work = (name: string, one: ReturnType<typeof holder>, bytes: number) =>
    memory.work(one, bytes, () => void events.push(`${name} begins`))
  return { memory, events, holder, work }
}

test('when the budget is spent, those without progress for the longest time give up', () => {
  const { memory, events, holder } = budget()
  const [slow, quick] = [holder('slow'), holder('quick')]
  for (const one of [slow, quick, slow, quick]) memory.hold(one, 40)
  memory.hold(holder('new'), 30)
  expect(events).toEqual(['slow gives up'])
})

test('small shares do not count', () => {
  const { memory, events, holder } = budget()
  for (let i = 0; i < 100; i += 1) expect(memory.hold(holder('small'), 10)).toBe(false)
  expect(memory.hold(holder('large'), 100)).toBe(true)
  expect(events).toEqual([])
})

test('complete shares are kept, and are worked on in order, as many as there is room for', async () => {
  const { memory, events, holder, work } = budget()
  const shares = ['a', 'b', 'c'].map((name) => [name, holder(name)] as const)
  for (const [, one] of shares) memory.hold(one, 30)
  for (const [name, one] of shares) work(name, one, 30)
  await turn()
  expect(events).toEqual(['a begins'])
  expect(memory.hold(holder('new'), 20)).toBe(false)
  expect(events).toEqual(['a begins', 'new gives up'])
  memory.release(shares[0]![1])
  await turn()
  expect(events.slice(2)).toEqual(['b begins'])
  memory.release(shares[2]![1]) // its client has left
  memory.release(shares[1]![1])
  await turn()
  expect(memory.hold(holder('last'), 100)).toBe(true)
  expect(events.slice(3)).toEqual([])
})

test('work begins once per turn of the event loop', async () => {
  const { events, holder, work } = budget()
  for (const name of ['a', 'b']) work(name, holder(name), 20)
  expect(events).toEqual(['a begins'])
  await turn()
  await turn()
  expect(events).toEqual(['a begins', 'b begins'])
})

test('a complete share gives up when such shares take most of the memory', () => {
  const { memory, events, holder, work } = budget()
  for (const name of ['a', 'b']) {
    const one = holder(name)
    memory.hold(one, 50)
    work(name, one, 50)
  }
  expect(events).toEqual(['a begins', 'b gives up'])
})

test('work that is larger than the limit is done alone', () => {
  const { events, holder, work } = budget()
  work('large', holder('large'), 80)
  expect(events).toEqual(['large begins'])
})

test('small work is done at once', () => {
  const { events, holder, work } = budget()
  work('large', holder('large'), 50)
  work('small', holder('small'), 10)
  expect(events).toEqual(['large begins', 'small begins'])
})
