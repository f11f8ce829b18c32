// Calls of about the same time, done together.
import { expect, test } from '@jest/globals'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { batched } from '../../src/store/batch.ts'

/** Doubles numbers, at most two in a batch. A batch with -1 fails; 0 fails alone. */
const double = batched(
  async (numbers: number[]) => {
    if (numbers.includes(-1)) throw new Error('all fail')
    return numbers.map((number) => (number === 0 ? new Error('nothing to double') : number * 2))
  },
  { maxBatchSize: 2 },
)

/** Batches of at most two calls that go on until they are ended, in the order of their start. */
function endless(concurrency?: number) {
  const started: number[][] = []
  const ends: ((error?: Error) => void)[] = []
  const call = batched<number, void>(
    (numbers) => {
      started.push(numbers)
      return new Promise((resolve, reject) => {
        ends.push((error) => (error ? reject(error) : resolve([])))
      })
    },
    { maxBatchSize: 2, ...(concurrency && { concurrency }) },
  )
  return { started, ends, call }
}

test('the calls of two turns come together; a later call does not wait for an earlier batch', async () => {
  const { started, call } = endless()
  void call(1)
  await nextTurn()
  void call(2)
  await nextTurn()
  expect(started).toEqual([[1, 2]])
  void call(3)
  await nextTurn()
  await nextTurn()
  expect(started).toEqual([[1, 2], [3]])
})

test('with a limit on the batches, calls wait for the end of one', async () => {
  const { started, ends, call } = endless(1)
  for (const number of [1, 2, 3]) void call(number)
  await nextTurn()
  void call(4)
  await nextTurn()
  expect(started).toEqual([[1, 2]])
  ends[0]!()
  await nextTurn()
  expect(started.join(' ')).toBe('1,2 3,4')
})

test('each call gets its own result; an error fails one call, and a failed batch only its own', async () => {
  const results = await Promise.allSettled([1, 0, 2, 3, -1, 4, 5].map(double))
  const values = results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))
  expect(values).toEqual([2, 'failed', 4, 6, 'failed', 'failed', 10])
})

test('a batch that fails also fails the calls that wait for it, and none that come later', async () => {
  const { started, ends, call } = endless(1)
  const calls = Promise.allSettled([1, 2, 3].map(call))
  await nextTurn()
  await nextTurn()
  ends[0]!(new Error('unreachable'))
  expect((await calls).every(({ status }) => status === 'rejected')).toBe(true)
  const later = call(4)
  while (ends.length < 2) await nextTurn()
  ends[1]!()
  await later
  expect(started).toEqual([[1, 2], [4]])
})
