// What the metrics say of a store that fails. (The rest is in operator/server.test.ts, over HTTP.)
import { expect, test } from '@jest/globals'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { measured } from '../../src/telemetry/measured-store.ts'
import { EmailTaken, StoreFailure, type User } from '../../src/store/user-store.ts'
import { failing } from '../support/failing-store.ts'

const count = async (metrics: ReturnType<typeof createMetrics>, name: string) =>
  (await metrics.expose()).text.split('\n').filter((line) => line.startsWith(name))

test.each(['create', 'find', 'findByEmail', 'list', 'ids', 'rename', 'remove'])(
  'a failing %s is measured and counted as a failure',
  async (operation) => {
    const metrics = createMetrics('1.2.3')
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

test('the version is in the metrics', async () => {
  const { text } = await createMetrics('1.2.3').expose()
  expect(text).toContain('build_info{version="1.2.3"} 1\n')
})

test('a measured store passes on all arguments', async () => {
  const asked: unknown[][] = []
  const note =
    <T>(answer: T) =>
    async (...given: unknown[]) => {
      asked.push(given)
      return answer
    }
  const list = async function* (which?: object): AsyncGenerator<User[]> {
    asked.push([which])
    yield []
  }
  const calls = { rename: note(true), remove: note(true), ids: note([]), list }
  const store = measured(failing(calls), createMetrics('1.2.3'))
  await store.rename('id', 'new', 'old')
  await store.remove('id', 'old')
  await store.ids('id', 7)
  for await (const page of store.list({ ids: ['id'] })) void page
  expect(asked).toEqual([['id', 'new', 'old'], ['id', 'old'], ['id', 7], [{ ids: ['id'] }]])
})

test('an email that is taken does not count as a failure', async () => {
  const metrics = createMetrics('1.2.3')
  const create = async () => {
    throw new EmailTaken('x')
  }
  const store = measured(failing({ create }), metrics)
  await expect(store.create({ name: '', email: 'x' })).rejects.toThrow(EmailTaken)
  expect(await count(metrics, 'store_operation_failures_total{operation="create"}')).toEqual([
    'store_operation_failures_total{operation="create"} 0',
  ])
})

test('a list that fails on the way is counted and closed', async () => {
  const metrics = createMetrics('1.2.3')
  let released = false
  const list = async function* () {
    try {
      yield []
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

test('a call and a list are measured once, in seconds, however many pages the list has', async () => {
  const metrics = createMetrics('1.2.3')
  const list = async function* () {
    for (const page of ['[1]', '[2]', '[3]']) yield [page] as never
  }
  const find = () => new Promise<undefined>((resolve) => setTimeout(resolve, 10, undefined))
  const store = measured(failing({ list, find }), metrics)
  const start = performance.now()
  await store.find('')
  const pages = []
  for await (const page of store.list()) pages.push(page)
  const elapsed = (performance.now() - start) / 1000
  expect(pages).toEqual([['[1]'], ['[2]'], ['[3]']])
  for (const operation of ['find', 'list']) {
    const name = (what: string) =>
      `store_operation_duration_seconds_${what}{operation="${operation}"}`
    expect(await count(metrics, name('count'))).toEqual([`${name('count')} 1`])
    const [line = ''] = await count(metrics, name('sum'))
    const sum = Number(line.split(' ')[1])
    expect([sum > 0, sum < elapsed]).toEqual([true, true])
  }
})

test('the time of a list counts only until its first page', async () => {
  const metrics = createMetrics('1.2.3')
  const list = async function* () {
    yield [1] as never
  }
  const users = measured(failing({ list }), metrics).list()[Symbol.asyncIterator]()
  const counted = 'store_operation_duration_seconds_count{operation="list"}'
  await users.next()
  expect(await count(metrics, counted)).toEqual([`${counted} 1`])
  expect(await users.next()).toMatchObject({ done: true })
  expect(await count(metrics, counted)).toEqual([`${counted} 1`])
})

test('an error in a list other than StoreFailure does not count as a failure of the store', async () => {
  const metrics = createMetrics('1.2.3')
  // eslint-disable-next-line require-yield
  const list = async function* (): AsyncGenerator<User[]> {
    throw new TypeError('a mistake')
  }
  const users = measured(failing({ list }), metrics).list()[Symbol.asyncIterator]()
  await expect(users.next()).rejects.toThrow(TypeError)
  expect(await count(metrics, 'store_operation_failures_total{operation="list"}')).toEqual([
    'store_operation_failures_total{operation="list"} 0',
  ])
})
