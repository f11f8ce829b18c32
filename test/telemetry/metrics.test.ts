// What the metrics say of a store that fails. (The rest is in ops/server.test.ts, over HTTP.)
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { measure } from '../../src/telemetry/measured-store.ts'
import { EmailTaken, StoreFailure, type UserStore } from '../../src/store/user-store.ts'
import { failing } from '../support/failing-store.ts'
import { usersIn } from '../support/stores.ts'
import { newUser } from '../support/users.ts'

/** A measured store, and what its metrics say of an operation. */
function measuring(methods?: Partial<UserStore>) {
  const metrics = createMetrics('1.2.3')
  return {
    store: measure(failing(methods), metrics),
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

test.each<[string, (store: UserStore) => Promise<unknown>]>([
  ['create', (store) => store.create(newUser())],
  ['find', (store) => store.find('')],
  ['findByEmail', (store) => store.findByEmail('')],
  ['list', usersIn],
  ['ids', (store) => store.ids('', 1)],
  ['rename', (store) => store.rename('', '')],
  ['remove', (store) => store.remove('')],
])('a failing %s is measure and counted as a failure', async (operation, call) => {
  const metrics = measuring()
  await expect(call(metrics.store)).rejects.toThrow(StoreFailure)
  expect(await metrics.of(operation)).toMatchObject({ calls: 1, failures: 1 })
})

test('the version is in the metrics', async () => {
  const { text } = await createMetrics('1.2.3').expose()
  expect(text).toContain('build_info{version="1.2.3"} 1\n')
})

test('a measure store passes on all arguments', async () => {
  const calls: unknown[][] = []
  const noted = async (...args: unknown[]) => void calls.push(args) as never
  const { store } = measuring({ rename: noted, remove: noted, ids: noted, list: noted })
  const condition = () => true
  await store.rename('id', 'new', condition)
  await store.remove('id', condition)
  await store.ids('id', 7)
  await store.list({ ids: ['id'] })
  expect(calls).toEqual([['id', 'new', condition], ['id', condition], ['id', 7], [{ ids: ['id'] }]])
})

test('an email that is taken does not count as a failure', async () => {
  const metrics = measuring({ create: () => Promise.reject(new EmailTaken('x')) })
  await expect(metrics.store.create(newUser())).rejects.toThrow(EmailTaken)
  expect(await metrics.of('create')).toMatchObject({ failures: 0 })
})

test('a call is measure once, in seconds', async () => {
  const metrics = measuring({ find: () => sleep(10, undefined) })
  const start = performance.now()
  await metrics.store.find('')
  const { calls, seconds } = await metrics.of('find')
  expect([calls, seconds > 0]).toEqual([1, true])
  expect(seconds).toBeLessThan((performance.now() - start) / 1000)
})
