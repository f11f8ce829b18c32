// What the metrics say of a store that fails. (The rest is in ops.test.ts, over HTTP.)
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreFailure } from '../../../src/chassis/index.ts'
import { createMetrics } from '../../../src/chassis/telemetry/metrics.ts'
import { measure } from '../../../src/chassis/telemetry/measure.ts'

/** A store whose method `find` is measured, and what its metrics say of it. */
function measuring(find: () => Promise<unknown>) {
  const metrics = createMetrics('x', '1.2.3')
  return {
    store: measure({ find }, ['find'], metrics),
    read: async () => {
      const { text } = await metrics.expose()
      const value = (name: string) =>
        Number(text.split(`\n${name}{operation="find"} `)[1]?.split('\n')[0])
      return {
        calls: value('store_operation_duration_seconds_count'),
        failures: value('store_operation_failures_total'),
        seconds: value('store_operation_duration_seconds_sum'),
      }
    },
  }
}

test.each([
  ['a StoreFailure', new StoreFailure(new Error('x')), 1],
  ['any other error', new Error('taken'), 0],
])(
  'a call that rejects is measured; as a failure counts only a StoreFailure: %s',
  async (_, reason, failures) => {
    const { store, read } = measuring(() => Promise.reject(reason))
    await expect(store.find()).rejects.toBe(reason)
    expect(await read()).toMatchObject({ calls: 1, failures })
  },
)

test('a call is measured once, in seconds', async () => {
  const { store, read } = measuring(() => sleep(10))
  const start = performance.now()
  await store.find()
  const { calls, seconds } = await read()
  expect([calls, seconds > 0]).toEqual([1, true])
  expect(seconds).toBeLessThan((performance.now() - start) / 1000)
})

test('a measured store gets all arguments, and can have private members; other methods stay as they are', async () => {
  class Store {
    readonly #kept = ['x']
    async find(...args: unknown[]) {
      return [...this.#kept, ...args]
    }
    isGone() {
      return this.#kept.length === 0
    }
  }
  const store = measure(new Store(), ['find'], createMetrics('x', '1.2.3'))
  const condition = () => true
  expect(await store.find('id', condition)).toEqual(['x', 'id', condition])
  expect(store.isGone()).toBe(false)
})
