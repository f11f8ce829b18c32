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
  test('is made again; while it cannot be, every call fails', async () => {
    const place = mongodbPlace()
    const client = new MongoClient(place.MONGODB_URI!)
    const store = await open(place)
    undo.push(async () => {
      await client.close()
      await place.remove()
    })
    const collection = client.db().collection('users')
    const works = () => store.oldest().then(Boolean, () => undefined)
    await works()
    await collection.dropIndex('users_email_unique')
    while ((await collection.indexes()).length === 1) {
      await works()
      await sleep(500)
    }
    await collection.dropIndex('users_email_unique')
    await collection.insertMany([{ email: 'a@x' }, { email: 'a@x' }])
    while ((await works()) !== undefined) await sleep(500)
    await expect(store.find('6'.repeat(24))).rejects.toThrow(StoreFailure)
  })
})
