// What other programs change in a collection while the service runs: it looks every 15 s.
import { expect, test } from '@jest/globals'
import { MongoClient } from 'mongodb'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreFailure } from '../../../src/chassis/index.ts'
import { useUndo } from '../../support/program.ts'
import { describeMongodb, mongodbPlace, useOwnStores } from '../../support/stores.ts'

const undo = useUndo()
const { open } = useOwnStores(mongodbPlace)

describeMongodb('a unique index that another program drops', () => {
  async function openWithoutIndex() {
    const place = mongodbPlace()
    const client = new MongoClient(place.MONGODB_URI!)
    const store = await open(place)
    undo.push(async () => {
      await client.close()
      await place.remove()
    })
    const collection = client.db().collection('users')
    await collection.dropIndex('users_email_unique')
    return { store, collection }
  }

  test('is made again', async () => {
    const { store, collection } = await openWithoutIndex()
    while ((await collection.indexes()).length === 1) {
      await store.oldest()
      await sleep(500)
    }
    expect(await store.oldest()).toBeNull()
  })

  test('fails every call, if it cannot be made again', async () => {
    const { store, collection } = await openWithoutIndex()
    await collection.insertMany([{ email: 'a@x' }, { email: 'a@x' }])
    const works = () => store.oldest().then(Boolean, () => undefined)
    while ((await works()) !== undefined) await sleep(500)
    await expect(store.find('6'.repeat(24))).rejects.toThrow(StoreFailure)
  })
})
