// Calls of one turn, done together.
import { expect, test } from '@jest/globals'
import { setImmediate as turn } from 'node:timers/promises'
import { batched } from '../../src/store/batch.ts'

/** Doubles numbers, noting which came together. */
function doubler(limit = 100) {
  const runs: number[][] = []
  const double = batched(limit, async (numbers: number[]) => {
    runs.push(numbers)
    if (numbers.includes(-1)) throw new Error('all fail')
    return numbers.map((number) => (number === 0 ? new Error('nothing to double') : number * 2))
  })
  return { runs, double }
}

test('the calls of one turn are one run, and each gets its own outcome', async () => {
  const { runs, double } = doubler()
  expect(await Promise.all([1, 2, 3].map(double))).toEqual([2, 4, 6])
  expect(runs).toEqual([[1, 2, 3]])
})

test('a call of a later turn is in a later run, though the first one goes on', async () => {
  const runs: number[][] = []
  let end = (): void => {}
  const call = batched(100, (numbers: number[]) => {
    runs.push(numbers)
    return new Promise<number[]>((resolve) => (end = () => resolve(numbers)))
  })
  const first = call(1)
  await turn()
  const second = call(2)
  await turn()
  expect(runs).toEqual([[1], [2]])
  end()
  expect(await second).toBe(2)
  void first
})

test('no run begins before the end of the turn, unless it is full', async () => {
  const { runs, double } = doubler(2)
  const calls = [1, 2, 3].map(double)
  expect(runs).toEqual([[1, 2]])
  expect(await Promise.all(calls)).toEqual([2, 4, 6])
  expect(runs).toEqual([[1, 2], [3]])
})

test('an error fails the one call that it belongs to', async () => {
  const { double } = doubler()
  const outcomes = await Promise.allSettled([1, 0, 2].map(double))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a run that fails fails its calls, and no others', async () => {
  const { double } = doubler(2)
  const outcomes = await Promise.allSettled([1, -1, 2].map(double))
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
})
