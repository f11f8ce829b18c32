// Lines into a store, as it is, slow or failing.
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { importUsers, type Tally } from '../../../scripts/transfer/import.ts'
import type { Line } from '../../../scripts/transfer/line.ts'
import { StoreFailure, type Newcomer, type Outcome } from '../../../src/store/user-store.ts'
import { failing } from '../../support/failing-store.ts'

async function* users(count: number): AsyncGenerator<Line[]> {
  const line = (i: number): Line => ({ line: i, fields: { name: 'Ada', email: `ada-${i}@x` } })
  yield Array.from({ length: count }, (_, i) => line(i + 1))
}

/** Imports `count` users into a store of which only `createMany` works; how many came in each batch. */
async function sizesOf(
  count: number,
  most: number,
  createMany: (users: Newcomer[]) => Promise<void>,
) {
  const sizes: number[] = []
  const store = failing({
    most,
    async createMany(users) {
      await createMany(users)
      sizes.push(users.length)
      return users.map((): Outcome => 'created')
    },
  })
  const tally: Tally = { created: 0, updated: 0, duplicate: 0, refused: 0, line: 0 }
  const { signal: stop } = new AbortController()
  const given = { store, update: false, newIds: false, report: () => {}, stop }
  const failure: unknown = await importUsers(users(count), given, tally).catch((error) => error)
  return { sizes, tally, failure }
}

test('batches grow to what the store takes at once', async () => {
  const { sizes, tally } = await sizesOf(10_000, 1_000, async () => {})
  expect(sizes.slice(0, 6)).toEqual([100, 200, 400, 800, 1_000, 1_000])
  expect(Math.max(...sizes)).toBe(1_000)
  expect([tally.created, tally.line]).toEqual([10_000, 10_000])
})

test('batches stay small in a slow store', async () => {
  const { sizes } = await sizesOf(300, 1_000, ({ length }) => sleep(length * 6))
  expect(sizes).toEqual([100, 100, 100])
})

test('of a store that fails, what was stored before is told, and nothing more is tried', async () => {
  let calls = 0
  const { sizes, tally, failure } = await sizesOf(10_000, 1_000, async () => {
    calls += 1
    if (calls === 3) throw new StoreFailure(new Error('gone'))
  })
  expect(failure).toBeInstanceOf(StoreFailure)
  expect(calls).toBe(3)
  expect(sizes).toEqual([100, 200])
  expect([tally.created, tally.line]).toEqual([300, 300])
})
