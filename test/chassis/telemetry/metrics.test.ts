// What the metrics say of a store that fails. (The rest is in test/ops.test.ts, over HTTP.)
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMetrics } from '../../../src/chassis/telemetry/metrics.ts'
import { measure } from '../../../src/chassis/telemetry/measure.ts'
import { StoreFailure } from '../../../src/chassis/failure.ts'

type Call = (...args: unknown[]) => Promise<unknown>
const fail: Call = () => Promise.reject(new StoreFailure(new Error('the cause')))
const STORE = { add: fail, find: fail, isGone: () => false }

/** A measured store, and what its metrics say of an operation. */
function measuring(methods: Partial<typeof STORE> = {}) {
  const metrics = createMetrics('x', '1.2.3')
  return {
    store: measure({ ...STORE, ...methods }, ['add', 'find'], metrics),
    async of(operation: string) {
      const { text } = await metrics.expose()
      const value = (name: string) =>
        Number(text.split(`\n${name}{operation="${operation}"} `)[1]?.split('\n')[0])
      return {
        calls: value('store_operation_duration_seconds_count'),
        failures: value('store_operation_failures_total'),
        seconds: value('store_operation_duration_seconds_sum'),
      }
    },
  }
}

test('a failing call is measured and counted as a failure; a record that is refused is none', async () => {
  const metrics = measuring()
  await expect(metrics.store.find('')).rejects.toThrow(StoreFailure)
  expect(await metrics.of('find')).toMatchObject({ calls: 1, failures: 1 })
  const taken = measuring({ add: () => Promise.reject(new Error('taken')) })
  await expect(taken.store.add()).rejects.toThrow('taken')
  expect(await taken.of('add')).toMatchObject({ failures: 0 })
})

test('a measured store passes on all arguments, and other methods stay as they are', async () => {
  const calls: unknown[][] = []
  const noted = async (...args: unknown[]) => calls.push(args)
  const { store } = measuring({ add: noted, isGone: () => true })
  const condition = () => true
  await store.add('id', 'new', condition)
  expect([calls, store.isGone()]).toEqual([[['id', 'new', condition]], true])
})

test('a call is measured once, in seconds', async () => {
  const metrics = measuring({ find: () => sleep(10, undefined) })
  const start = performance.now()
  await metrics.store.find('')
  const { calls, seconds } = await metrics.of('find')
  expect([calls, seconds > 0]).toEqual([1, true])
  expect(seconds).toBeLessThan((performance.now() - start) / 1000)
})
