// Calls of one turn of the event loop, done together.
import { expect, test } from '@jest/globals'
import { setImmediate as turn } from 'node:timers/promises'
import { atMost, batched, outcomes } from '../../src/store/batch.ts'
import { StoreFailure } from '../../src/store/user-store.ts'

/** Doubles numbers, and notes which came together. A run with -1 fails; 0 fails alone. */
function doubler(most = 100) {
  const runs: number[][] = []
  const sizes: number[] = []
  const run = async (numbers: number[]) => {
    runs.push(numbers)
    if (numbers.includes(-1)) throw new Error('all fail')
    return numbers.map((number) => (number === 0 ? new Error('nothing to double') : number * 2))
  }
  const double = batched(outcomes(run), { most, onBatch: (size) => void sizes.push(size) })
  const statuses = async (...numbers: number[]) =>
    (await Promise.allSettled(numbers.map(double))).map(({ status }) => status)
  return { runs, sizes, double, statuses }
}

test('the calls of one turn are one run, and each gets its own outcome', async () => {
  const { runs, sizes, double } = doubler()
  expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6])
  expect([runs, sizes]).toEqual([[[1, 2, 3]], [3]])
})

/** Runs that go on until they are ended, in the order of their beginning. */
function endless(runs?: number) {
  const begun: number[][] = []
  const ends: (() => void)[] = []
  const call = batched<number, void>(
    (calls) => {
      begun.push(calls.map(({ item }) => item))
      return new Promise((resolve) => ends.push(resolve))
    },
    { most: 2, ...(runs && { runs }), onBatch() {} },
  )
  return { begun, ends, call }
}

test('the calls of two turns come together; a later call does not wait for an earlier run', async () => {
  const { begun, call } = endless()
  void call(1)
  await turn()
  void call(2)
  await turn()
  expect(begun).toEqual([[1, 2]])
  void call(3)
  await turn()
  await turn()
  expect(begun).toEqual([[1, 2], [3]])
})

test('more calls than fit in one run are several', async () => {
  const { runs, double } = doubler(2)
  expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6])
  expect(runs).toEqual([[1, 2], [3]])
})

test('with a limit on the runs, calls wait for the end of one', async () => {
  const { begun, ends, call } = endless(1)
  for (const number of [1, 2, 3]) void call(number)
  await turn()
  void call(4)
  await turn()
  expect(begun).toEqual([[1, 2]])
  ends[0]!()
  await turn()
  expect(begun).toEqual([
    [1, 2],
    [3, 4],
  ])
})

test('an error fails only the call that it belongs to', async () => {
  const { statuses } = doubler()
  expect(await statuses(1, 0, 2)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a run that fails fails its own calls only', async () => {
  const { statuses } = doubler(2)
  expect(await statuses(1, -1, 2)).toEqual(['rejected', 'rejected', 'fulfilled'])
})

test.each([
  ['while the store is away, a call also fails', new StoreFailure(new Error('away')), 'rejected'],
  [
    'a call that the store refuses does not fail',
    new StoreFailure(new Error(), '', true),
    'fulfilled',
  ],
  ['any other error does not fail', new Error('wrong'), 'fulfilled'],
])('%s those that wait for it', async (_, error, others) => {
  const call = atMost(1, async (isRight: boolean) => {
    if (!isRight) throw error
  })
  const statuses = (await Promise.allSettled([false, true, true].map(call))).map(
    (one) => one.status,
  )
  expect(statuses).toEqual(['rejected', others, others])
})
