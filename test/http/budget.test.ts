// The budget of memory: who must give back what, and what may be worked on.
import { expect, test } from '@jest/globals'
import { Budget } from '../../src/http/budget.ts'

/** A budget of 100 bytes, of which 50 may be worked on, and a function that makes holders by name. */
function budget() {
  const memory = new Budget({ memory: 100, work: 50, smallPart: 10 })
  const events: string[] = []
  const holder = (name: string) => ({ giveUp: () => void events.push(`${name} gives up`) })
  const work = (name: string, one: ReturnType<typeof holder>) =>
    memory.work(one, () => void events.push(`${name} begins`))
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

test('complete shares are kept, and are worked on in order, as many as there is room for', () => {
  const { memory, events, holder, work } = budget()
  const shares = ['a', 'b', 'c'].map((name) => [name, holder(name)] as const)
  for (const [, one] of shares) memory.hold(one, 30)
  for (const [name, one] of shares) work(name, one)
  expect(events).toEqual(['a begins'])
  expect(memory.hold(holder('new'), 20)).toBe(false)
  expect(events).toEqual(['a begins', 'new gives up'])
  memory.release(shares[0]![1])
  expect(events.slice(2)).toEqual(['b begins'])
  memory.release(shares[2]![1]) // its client has left
  memory.release(shares[1]![1])
  expect(memory.hold(holder('last'), 100)).toBe(true)
  expect(events.slice(3)).toEqual([])
})

test('a share that is larger than the work at a time is worked on alone', () => {
  const { memory, events, holder, work } = budget()
  const large = holder('large')
  memory.hold(large, 80)
  work('large', large)
  expect(events).toEqual(['large begins'])
})

test('a share that does not count is worked on at once', () => {
  const { events, holder, work } = budget()
  work('small', holder('small'))
  expect(events).toEqual(['small begins'])
})
