// What operators are told while the store does not respond. (With stores: ../store/mongo.)
import { expect, jest, test } from '@jest/globals'
import { createReadiness } from '../../../src/chassis/ops/readiness.ts'
import { StoreFailure } from '../../../src/chassis/index.ts'
import { createLogger } from '../../../src/chassis/telemetry/log.ts'

/** A store without `isGone`, whose calls fail for these kinds of reasons, and then succeed. */
const storeAfter = (...kinds: string[]) => ({
  async oldest() {
    const kind = kinds.shift()
    if (kind) throw new StoreFailure(new Error('x'), 'use it', kind)
    return null
  },
})

/** A readiness, and what it has logged. */
function create() {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  return { lines, readiness: createReadiness(createLogger('info', undefined, { write })) }
}

const failure = (kind: string) => ({
  level: 'error',
  err: { message: `cannot use it: ${kind}: x` },
})
const recovery = { msg: 'the store responds again' }

test('at the start, the service is ready when the store responds, and says before why it does not', async () => {
  const { lines, readiness } = create()
  expect(readiness.status()).toEqual({ isReady: false, state: 'starting' })
  const store = storeAfter('no response', 'unknown host')
  expect(await readiness.check(store)).toBeUndefined()
  const state = 'starting, but the store cannot be used: no response'
  expect(readiness.status()).toEqual({ isReady: false, state })
  expect(await readiness.check(store)).toBeUndefined()
  expect(await readiness.check(store)).toBeNull()
  expect(readiness.status()).toEqual({ isReady: true, state: 'ready' })
  expect(lines).toMatchObject([failure('no response'), failure('unknown host'), recovery])
})

test('in an outage, the service stays ready, and says once why the store fails', async () => {
  const { lines, readiness } = create()
  await readiness.check(storeAfter())
  const store = storeAfter('no primary', 'no primary')
  for (let i = 0; i < 2; i += 1) await readiness.check(store)
  const state = 'ready, but the store cannot be used: no primary'
  expect(readiness.status()).toEqual({ isReady: true, state })
  await readiness.check(store)
  expect(readiness.status()).toEqual({ isReady: true, state: 'ready' })
  expect(lines).toMatchObject([failure('no primary'), recovery])
})

test('a store that hangs gets no second call; that is an outage after seconds, until it responds', async () => {
  jest.useFakeTimers()
  const { lines, readiness } = create()
  const calls: ((oldest: null) => void)[] = []
  const store = { oldest: () => new Promise<null>((resolve) => calls.push(resolve)) }
  for (let times = 0; times < 2; times += 1) {
    const checked = readiness.check(store)
    await jest.advanceTimersByTimeAsync(5_000)
    expect(await checked).toBeUndefined()
  }
  const state = 'starting, but the store cannot be used: no response'
  expect(readiness.status()).toEqual({ isReady: false, state })
  const checked = readiness.check(store)
  for (const respond of calls) respond(null)
  expect([await checked, calls.length]).toEqual([null, 1])
  jest.useRealTimers()
  expect(readiness.status()).toEqual({ isReady: true, state: 'ready' })
  expect(lines).toMatchObject([{ level: 'error', msg: 'the store cannot be used' }, recovery])
  void readiness.check(store)
  expect(calls).toHaveLength(2)
})

test('a service that stops is not ready, whatever the store does', async () => {
  const { lines, readiness } = create()
  readiness.stopping()
  for (const store of [storeAfter('x'), storeAfter()]) await readiness.check(store)
  expect(readiness.status()).toEqual({ isReady: false, state: 'stopping' })
  expect(lines).toEqual([])
})

test('the service is not ready any more when its database was deleted or replaced, and the log says so once', async () => {
  const { lines, readiness } = create()
  let isGone = (): boolean => {
    throw new Error('its folder cannot be read')
  }
  let calls = 0
  const store = { ...storeAfter(), isGone: () => isGone(), onGone: () => void (calls += 1) }
  await readiness.check(store)
  expect(readiness.status()).toEqual({ isReady: true, state: 'ready' })
  isGone = () => true
  const state = expect.stringMatching(/^the database was deleted or replaced/)
  expect(readiness.status()).toEqual({ isReady: false, state })
  expect([lines, calls]).toEqual([[], 0]) // a question changes nothing
  for (let times = 0; times < 2; times += 1) await readiness.check(store)
  expect(readiness.status()).toEqual({ isReady: false, state })
  expect([lines, calls]).toEqual([[expect.objectContaining({ level: 'error', msg: state })], 1])
})

test('mistakes of a store are in the log, and the next check is made', async () => {
  const { lines, readiness } = create()
  await readiness.check(storeAfter())
  const fail = () => JSON.parse('') as never
  const rubbish = async () => 'x' as never
  const never = async () => new Date(NaN)
  const reject = () => Promise.reject(new Error('x'))
  for (const oldest of [fail, rubbish, never, reject]) {
    expect(await readiness.check({ oldest })).toBeUndefined()
    await readiness.check(storeAfter())
  }
  await readiness.check({ ...storeAfter(), isGone: () => true, onGone: fail })
  expect(readiness.status().state).toMatch(/, but the store cannot be used: error$/)
  expect(lines.filter(({ msg }) => msg === 'the store cannot be used')).toHaveLength(5)
})

test('a store that fails without a reason has a line that says so', async () => {
  const { lines, readiness } = create()
  await readiness.check({ oldest: () => Promise.reject() })
  expect(lines).toMatchObject([{ err: { message: 'undefined' }, msg: 'the store cannot be used' }])
})
