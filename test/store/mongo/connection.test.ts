// A MongoDB that is slow: it is behind a proxy that delays each answer.
import { expect, test } from '@jest/globals'
import { openMongoStore } from '../../../src/store/mongo/store.ts'
import { until } from '../../chassis/support/clients.ts'
import { startProxy } from '../../support/mongodb-proxy.ts'
import { describeMongodb, mongodbPlace, useOwnStores } from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

describeMongodb('a slow MongoDB', () => {
  const { newPlace } = useOwnStores(mongodbPlace)

  async function openSlow(delayMs: number) {
    const proxy = await startProxy(newPlace().MONGODB_URI!)
    proxy.slowDown(delayMs)
    const store = openMongoStore(proxy.uri)
    const close = async () => {
      await store.close()
      await proxy.close()
    }
    return { proxy, store, close }
  }

  test('is not taken for one that is stuck while the collection is checked, which takes longer than a call', async () => {
    const { proxy, store, close } = await openSlow(700)
    let oldest: Date | null | undefined
    for (let tries = 0; tries < 5 && oldest === undefined; tries += 1)
      oldest = await store.oldest().catch(() => undefined)
    expect(oldest).toBeNull()
    const indexes = proxy.commands().filter(({ name }) => name === 'listIndexes')
    expect(indexes).toHaveLength(1) // of one client
    await close()
  })

  test('gets as many writes at a time as there may be, each over a connection of its own', async () => {
    const { proxy, store, close } = await openSlow(0)
    const { id } = await store.create(newUser())
    let end = () => {}
    proxy.standStill(new Promise((resolve) => (end = resolve)))
    const writes = Array.from({ length: 64 }, () => store.rename(id, { name: 'x' }))
    const all = until(() => proxy.connections() >= writes.length)
    await expect(all).resolves.toBeUndefined()
    end()
    await Promise.allSettled(writes)
    await close()
  })
})
