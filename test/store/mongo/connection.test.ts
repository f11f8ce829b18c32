// A MongoDB that is slow: it is behind a proxy that delays each answer.
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { openMongoStore } from '../../../src/store/mongo/store.ts'
import { startProxy } from '../../support/mongodb-proxy.ts'
import { createIn, describeMongodb, mongodbPlace, useOwnStores } from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

describeMongodb('a slow MongoDB', () => {
  const { newPlace } = useOwnStores(mongodbPlace)

  async function openSlow(delayMs: number) {
    const proxy = await startProxy(newPlace().MONGODB_URI!)
    proxy.slowDown(delayMs)
    const store = await openMongoStore(proxy.uri, { allowUnreachable: true })
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
    const users = await createIn(
      store,
      Array.from({ length: 64 }, () => newUser()),
    )
    proxy.slowDown(300)
    await sleep(100)
    const results = await Promise.all(users.map(({ id }) => store.rename(id, { name: 'x' })))
    expect(new Set(results)).toEqual(new Set(['done']))
    await close()
  })
})
