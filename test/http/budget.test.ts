// The budget of memory: who takes a turn, who must give back what, and what may be worked on.
import { expect, jest, test } from '@jest/globals'
import { setImmediate as turn } from 'node:timers/promises'
import { Budget, type Holder } from '../../src/http/budget.ts'

// So that a busy machine cannot make these tests fail.
jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })

/** Lets `ms` milliseconds pass, with one turn of the event loop in each. */
async function sleep(ms: number): Promise<void> {
  for (let i = 0; i < ms; i += 1) {
    jest.advanceTimersByTime(1)
    await turn()
  }
}

/** A budget of 100 bytes, and a function that makes holders by name. Each notes what happens to it. */
function budget(longPart = Infinity) {
  const memory = new Budget({
    memory: 100,
    begun: 60,
    longPart,
    patience: 20,
    work: 50,
    turns: 2,
    smallPart: 10,
    slice: 25,
  })
  const events: string[] = []
  const holder = (name: string, least = 0): Holder => ({
    least,
    isOver: false,
    isBusy: () => name === 'busy',
    giveUp: () => void events.push(`${name} gives up`),
  })
  const work = (name: string, one: Holder, bytes: number) =>
    memory.work(one, bytes, () => void events.push(`${name} begins`))
  const next = (name: string, one: Holder, bytes: number) =>
    memory.next(one, bytes, () => {
      events.push(name)
      memory.hold(one, bytes)
    })
  /** A holder that waits for its first turn. */
  const begin = (name: string, bytes: number) => {
    const one = holder(name)
    next(name, one, bytes)
    return one
  }
  return { memory, events, holder, work, next, begin }
}

test('when the budget is spent, those without progress for the longest time give up', () => {
  const { memory, events, holder } = budget()
  const [slow, quick] = [holder('slow'), holder('quick')]
  for (const one of [slow, quick, slow, quick]) memory.hold(one, 40)
  expect(memory.hold(holder('new'), 30)).toBe(true)
  expect(events).toEqual(['slow gives up'])
})

test('small shares do not count', () => {
  const { memory, events, holder } = budget()
  for (let i = 0; i < 100; i += 1) expect(memory.hold(holder('small', 5), 5)).toBe(true)
  expect(memory.hold(holder('large'), 100)).toBe(true)
  expect(events).toEqual([])
})

test('a few holders take a turn in each turn of the event loop, the oldest first', async () => {
  const { events, next, begin } = budget()
  const [a] = ['a', 'b', 'c'].map((name) => begin(name, 1))
  expect(events).toEqual([])
  await turn()
  expect(events).toEqual(['a', 'b'])
  next('a again', a!, 1)
  await turn()
  expect(events.slice(2)).toEqual(['a again', 'c'])
})

test('holders begin while there is room; then the others wait, and those that have begun go on', async () => {
  const { memory, events, next, begin } = budget()
  const [a, b] = ['a', 'b', 'c'].map((name) => begin(name, 30))
  await turn()
  await turn()
  expect(events).toEqual(['a', 'b'])
  next('b again', b!, 40)
  await turn()
  expect(events.slice(2)).toEqual(['b again'])
  memory.end(a!)
  await turn()
  expect(events.slice(3)).toEqual(['c'])
})

test('when others wait for room, those that have begun and make no progress give up', async () => {
  const { memory, events, begin, holder, next } = budget()
  memory.hold(holder('headers'), 10) // which take no turns
  begin('slow', 30)
  const quick = begin('quick', 30)
  await turn()
  await sleep(15)
  next('quick again', quick, 30)
  begin('new', 10)
  while (!events.includes('new')) await sleep(1)
  expect(events).toEqual(['slow', 'quick', 'quick again', 'slow gives up', 'new'])
})

test('when others wait for room, those that make progress have four times the time', async () => {
  const { events, begin, next } = budget()
  const drips = begin('drips', 60)
  await turn()
  begin('new', 10)
  for (let i = 0; i < 50 && !events.includes('new'); i += 1) {
    if (!events.includes('drips gives up')) next('part', drips, 60)
    await sleep(10)
  }
  expect(events.filter((event) => event !== 'part')).toEqual(['drips', 'drips gives up', 'new'])
  expect(events).toContain('part')
})

test('when others wait for room, one with no more than a fair share does not give up', async () => {
  const { events, begin } = budget()
  begin('small', 15)
  begin('large', 55)
  await turn()
  for (const name of ['c', 'd']) begin(name, 1)
  while (!events.includes('d')) await sleep(1)
  await sleep(60)
  expect(events).toEqual(['small', 'large', 'large gives up', 'c', 'd'])
})

test('when others wait for room, the one that holds much gives up sooner', async () => {
  const { events, begin } = budget()
  begin('less', 13)
  await turn()
  await sleep(5) // much less than the patience
  begin('more', 55)
  await turn()
  for (const name of ['c', 'd', 'e']) begin(name, 1)
  while (!events.includes('e')) await sleep(1)
  expect(events).toEqual(['less', 'more', 'more gives up', 'c', 'd', 'e'])
})

test('lists and bodies do not wait for each other', async () => {
  const { events, begin } = budget(30)
  for (const name of ['list', 'next list', 'last list']) begin(name, 31)
  await turn()
  for (const name of ['body', 'next body']) begin(name, 15)
  await turn()
  expect(events).toEqual(['list', 'next list', 'body', 'next body'])
})

test('holders that take no turns leave the room to those that do', async () => {
  const { memory, events, holder, begin } = budget()
  for (let i = 0; i < 8; i += 1) memory.hold(holder('headers'), 11)
  begin('list', 10)
  await turn()
  expect(events).toEqual(['list'])
})

test('one that waits for the service does not give up', async () => {
  const { memory, events, holder, begin } = budget()
  const [reads, works] = [holder('reads'), holder('works')]
  memory.next(reads, 40, () => {}) // a store takes its time
  await turn()
  memory.hold(works, 40)
  memory.work(works, 40, () => {})
  memory.hold(holder('busy'), 11)
  begin('new', 40)
  await sleep(60)
  expect(events).toEqual([])
  memory.hold(reads, 40)
  while (!events.includes('new')) await sleep(5)
  expect(events).toEqual(['reads gives up', 'new'])
})

test('when the budget is spent by those that wait for room, the oldest whose clients are not done give up', async () => {
  const { memory, events, holder, begin } = budget()
  memory.hold(holder('busy'), 75)
  for (const name of ['busy', 'a', 'b', 'c']) {
    const one = holder(name, name === 'busy' ? 0 : 11)
    memory.hold(one, 0)
    memory.next(one, 50, () => {})
  }
  begin('last', 1)
  expect(events).toEqual(['a gives up'])
})

test('when the budget is spent, those that have begun give up before those that wait for room', async () => {
  const { memory, events, holder, begin } = budget()
  begin('begun', 60)
  await turn()
  const waits = holder('waits', 30)
  memory.next(waits, 50, () => {})
  memory.hold(holder('new'), 20)
  expect(events).toEqual(['begun', 'begun gives up'])
})

test('a request that is over takes nothing', async () => {
  const { memory, events, holder, work, next } = budget()
  const over = holder('over', 50)
  memory.hold(over, 50)
  memory.end(over)
  expect(memory.hold(over, 50)).toBe(false)
  next('over', over, 50)
  work('over', over, 50)
  await turn()
  expect(memory.hold(holder('new'), 100)).toBe(true)
  expect(events).toEqual([])
})

test('what is complete is worked on, as much as there is room for, with other requests between', async () => {
  const { memory, events, holder, work } = budget()
  const [a, b, c] = ['a', 'b', 'c'].map((name) => {
    const one = holder(name)
    memory.hold(one, 20)
    work(name, one, 25)
    return one
  })
  expect(events).toEqual(['a begins'])
  while (events.length < 2) await turn()
  await sleep(20)
  expect(events).toEqual(['a begins', 'b begins'])
  memory.hold(holder('new'), 41)
  expect(events.slice(2)).toEqual(['new gives up'])
  memory.end(a!)
  while (events.length < 4) await turn()
  expect(events.slice(3)).toEqual(['c begins'])
  for (const one of [b, c]) memory.end(one!)
  expect(memory.hold(holder('last'), 100)).toBe(true)
})

test('what waits for work is not worked on once it is released', async () => {
  const { memory, events, holder, work } = budget()
  const [a, b] = [holder('a'), holder('b')]
  work('a', a, 50)
  work('b', b, 50)
  memory.end(b)
  memory.end(a)
  await sleep(20)
  expect(events).toEqual(['a begins'])
})

test('work that is larger than the limit is done alone', () => {
  const { events, holder, work } = budget()
  work('large', holder('large'), 80)
  expect(events).toEqual(['large begins'])
})

test('small pieces of work are done together', () => {
  const { events, holder, work } = budget()
  for (const name of ['a', 'b', 'c', 'd']) work(name, holder(name), 11)
  expect(events).toEqual(['a begins', 'b begins', 'c begins'])
})

test('small work is done at once', () => {
  const { events, holder, work } = budget()
  work('large', holder('large'), 50)
  work('small', holder('small'), 10)
  expect(events).toEqual(['large begins', 'small begins'])
})

test('of what waits for work, the smallest begins first', async () => {
  const { memory, events, holder, work } = budget()
  const first = holder('first')
  work('first', first, 45)
  for (const [name, bytes] of [
    ['large', 40],
    ['small', 11],
    ['as small', 11],
  ] as const) {
    work(name, holder(name), bytes)
  }
  memory.end(first)
  while (events.length < 3) await turn()
  expect(events).toEqual(['first', 'small', 'as small'].map((name) => `${name} begins`))
})
