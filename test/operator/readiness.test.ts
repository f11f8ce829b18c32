// What operators are told while the store does not respond at the start. (With stores: ../store/mongo.)
import { expect, test } from '@jest/globals'
import { createReadiness } from '../../src/operator/readiness.ts'
import { StoreFailure } from '../../src/store/user-store.ts'

/** A store whose calls fail for these reasons, and then succeed. */
function storeAfter(...failures: StoreFailure[]) {
  const isEmpty = async () => {
    const failure = failures.shift()
    if (failure) throw failure
    return true
  }
  return { isEmpty }
}
const away = (reason: string) => new StoreFailure(new Error(reason))
const refused = new StoreFailure(new Error('refused'), 'use the data store', true)

test('each new reason is told once, and then that the store responds', async () => {
  const told: unknown[] = []
  const readiness = createReadiness((error) => void told.push(error && (error as Error).message))
  const store = storeAfter(away('x'), away('x'), away('y'))
  expect(await readiness.started(store)).toBeUndefined()
  expect(readiness.reason()).toBe('the store cannot be reached')
  await readiness.wait(store)
  expect(readiness.reason()).toBeUndefined()
  expect(told).toEqual(['cannot use the data store: x', 'cannot use the data store: y', undefined])
})

test('a store that refuses ends the wait, but not after the service has stopped', async () => {
  const readiness = createReadiness()
  const store = storeAfter(away('x'), refused, refused)
  await readiness.started(store)
  await expect(readiness.wait(store)).rejects.toBe(refused)
  const waiting = readiness.wait(store)
  readiness.stopping()
  await waiting
  expect(readiness.reason()).toBe('stopping')
})
