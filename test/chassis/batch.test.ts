// Calls of about the same time, done together.
import { expect, test } from '@jest/globals'
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { batched } from '../../src/chassis/batch.ts'

/** Batches of at most two calls that go on until they are ended, in the order of their start. */
function endless(concurrency = Infinity) {
  const started: number[][] = []
  const ends: ((error?: Error) => void)[] = []
  const call = batched<number, void>(
    (numbers) => {
      started.push(numbers)
      return new Promise((resolve, reject) => {
        ends.push((error) => (error ? reject(error) : resolve(numbers.map(() => {}))))
      })
    },
    { maxBatchSize: 2, concurrency },
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

test.each([
  ['its own calls', Infinity, ['rejected', 'rejected', 'fulfilled']],
  ['the calls that wait for it', 1, ['rejected', 'rejected', 'rejected']],
])('when a batch fails, so do %s, but none that come later', async (_, concurrency, expected) => {
  const { started, ends, call } = endless(concurrency)
  const calls = Promise.allSettled([1, 2, 3].map((number) => call(number)))
  while (started.length === 0) await nextTurn()
  ends[0]!(new Error('unreachable'))
  ends[1]?.()
  expect((await calls).map(({ status }) => status)).toEqual(expected)
  const later = call(4)
  while (started.at(-1)![0] !== 4) await nextTurn()
  ends.at(-1)!()
  await later
})

test.each([
  ['one call is in the context of its caller', [1], [1]],
  ['several calls is in that of nobody', [1, 2], [undefined]],
])('a batch of %s', async (_, callers, expected) => {
  const context = new AsyncLocalStorage<number>()
  const seen: unknown[] = []
  const call = batched<number, void>(
    async (numbers) => {
      seen.push(context.getStore())
      await nextTurn()
      return numbers.map(() => {})
    },
    { maxBatchSize: 2 },
  )
  const results = callers.map((caller) =>
    context.run(caller, async () => {
      await call(caller)
      return context.getStore()
    }),
  )
  expect(await Promise.all(results)).toEqual(callers)
  expect(seen).toEqual(expected)
})

test.each([[[]], [[1]], [[1, 2, 3]]])(
  'a batch of two with the results %j fails',
  async (results) => {
    const call = batched<number, number>(async () => results, { maxBatchSize: 2 })
    const calls = await Promise.allSettled([call(1), call(2)])
    const message = '`run` of a batch must return one result for each item'
    const reason = expect.objectContaining({ message })
    expect(calls).toEqual(calls.map(() => ({ status: 'rejected', reason })))
  },
)

test.each([0, -1, NaN, 'many' as never])('no queue has a limit of %s', (limit) => {
  const message = '`maxBatchSize` and `concurrency` must be at least 1'
  const run = async () => []
  expect(() => batched(run, { maxBatchSize: limit })).toThrow(message)
  expect(() => batched(run, { maxBatchSize: 1, concurrency: limit })).toThrow(message)
})
