// What the metrics say of a store that fails. (The rest is in ops.test.ts, over HTTP.)
import { expect, test } from '@jest/globals'
import { createMetrics } from '../src/metrics.ts'
import { measured } from '../src/store/measured.ts'
import { EmailTaken, StoreFailure, type JsonText, type User } from '../src/store/user-store.ts'
import { failing } from './support/failing-store.ts'

const count = async (metrics: ReturnType<typeof createMetrics>, name: string) =>
  (await metrics.expose()).text.split('\n').filter((line) => line.startsWith(name))

test.each(['create', 'find', 'findByEmail', 'list', 'ids', 'rename', 'remove'])(
  'a failing %s is measured and counted',
  async (operation) => {
    const metrics = createMetrics()
    const store = measured(failing(), metrics)
    const calls: Record<string, () => Promise<unknown>> = {
      create: () => store.create({ name: '', email: '' }),
      find: () => store.find(''),
      findByEmail: () => store.findByEmail(''),
      list: () => store.list()[Symbol.asyncIterator]().next(),
      ids: () => store.ids('', 1),
      rename: () => store.rename('', ''),
      remove: () => store.remove(''),
    }
    await expect(calls[operation]!()).rejects.toThrow(StoreFailure)
    expect(
      await count(metrics, `store_operation_failures_total{operation="${operation}"}`),
    ).toEqual([`store_operation_failures_total{operation="${operation}"} 1`])
    expect(
      await count(metrics, `store_operation_duration_seconds_count{operation="${operation}"}`),
    ).toEqual([`store_operation_duration_seconds_count{operation="${operation}"} 1`])
  },
)

test('a measured store is asked what the one behind it is then asked', async () => {
  const asked: unknown[][] = []
  const note =
    <T>(answer: T) =>
    async (...given: unknown[]) => {
      asked.push(given)
      return answer
    }
  const list = async function* (which?: object): AsyncGenerator<JsonText<User[]>> {
    asked.push([which])
    yield '[]' as JsonText<User[]>
  }
  const calls = { rename: note(true), remove: note(true), ids: note([]), list }
  const store = measured(failing(calls), createMetrics())
  await store.rename('id', 'new', 'old')
  await store.remove('id', 'old')
  await store.ids('id', 7)
  for await (const page of store.list({ ids: ['id'] })) void page
  expect(asked).toEqual([['id', 'new', 'old'], ['id', 'old'], ['id', 7], [{ ids: ['id'] }]])
})

test('an email that is taken is no failure', async () => {
  const metrics = createMetrics()
  const create = async () => {
    throw new EmailTaken('x')
  }
  const store = measured(failing({ create }), metrics)
  await expect(store.create({ name: '', email: 'x' })).rejects.toThrow(EmailTaken)
  expect(await count(metrics, 'store_operation_failures_total{operation="create"}')).toEqual([
    'store_operation_failures_total{operation="create"} 0',
  ])
})

test('a list that fails on the way is counted, and let go of', async () => {
  const metrics = createMetrics()
  let released = false
  const list = async function* () {
    try {
      yield '[]' as JsonText<User[]>
      throw new StoreFailure(new Error('on the way'))
    } finally {
      released = true
    }
  }
  const users = measured(failing({ list }), metrics).list()
  await expect(
    (async () => {
      for await (const user of users) void user
    })(),
  ).rejects.toThrow(StoreFailure)
  expect(released).toBe(true)
  expect(await count(metrics, 'store_operation_failures_total{operation="list"}')).toEqual([
    'store_operation_failures_total{operation="list"} 1',
  ])
})
