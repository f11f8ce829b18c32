// Calls of one turn of the event loop, done together.
import { expect, test } from '@jest/globals'
import { setImmediate as turn } from 'node:timers/promises'
import { batched } from '../../src/store/batch.ts'

/** Doubles numbers, and notes which came together. A run with -1 fails; 0 fails alone; from 100 they are long. */
function doubler(most = 100) {
  const runs: number[][] = []
  const sizes: number[] = []
  const run = async (numbers: number[]) => {
    runs.push(numbers)
    if (numbers.includes(-1)) throw new Error('all fail')
    return numbers.map((number) => (number === 0 ? new Error('nothing to double') : number * 2))
  }
  const isLong = (number: number) => number >= 100
  const double = batched(run, { most, isLong, onBatch: (size) => void sizes.push(size) })
  const statuses = async (...numbers: number[]) =>
    (await Promise.allSettled(numbers.map(double))).map(({ status }) => status)
  return { runs, sizes, double, statuses }
}

test('the calls of one turn are one run, and each gets its own outcome', async () => {
  const { runs, sizes, double } = doubler()
  expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6])
  expect([runs, sizes]).toEqual([[[1, 2, 3]], [3]])
})

test('a call of a later turn does not wait for an earlier run', async () => {
  const runs: number[][] = []
  const never = (numbers: number[]) => {
    runs.push(numbers)
    return new Promise<number[]>(() => {})
  }
  const call = batched(never, { most: 100, onBatch() {} })
  void call(1)
  await turn()
  void call(2)
  await turn()
  expect(runs).toEqual([[1], [2]])
})

test('a run starts at the end of the turn, or as soon as it is full', async () => {
  const { runs, double } = doubler(2)
  const calls = [1, 2, 3].map(double)
  expect(runs).toEqual([[1, 2]])
  expect(await Promise.all(calls)).toEqual([2, 4, 6])
  expect(runs).toEqual([[1, 2], [3]])
})

test('a long item is a run of its own', async () => {
  const { runs, double } = doubler()
  expect(await Promise.all([1, 100, 2].map(double))).toEqual([2, 200, 4])
  expect(runs).toEqual([[100], [1, 2]])
})

test('an error fails only the call that it belongs to', async () => {
  const { statuses } = doubler()
  expect(await statuses(1, 0, 2)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a run that fails fails its own calls only', async () => {
  const { statuses } = doubler(2)
  expect(await statuses(1, -1, 2)).toEqual(['rejected', 'rejected', 'fulfilled'])
})
