// A collection that other programs have made, and go on to change.
import { expect, jest, test } from '@jest/globals'
import { AsyncLocalStorage } from 'node:async_hooks'
import { BSON, BSONRegExp, Collection, Long, MongoClient, ObjectId, UUID } from 'mongodb'
import { ensureUniqueEmail, type Users } from '../../../src/store/mongo/collection.ts'
import { asStored, fieldsOf } from '../../../src/store/mongo/documents.ts'
import { openExisting } from '../../../src/store/open.ts'
import { StoreFailure } from '../../../src/chassis/index.ts'
import { EmailTaken, IdTaken } from '../../../src/store/user-store.ts'
import { startProxy } from '../../support/mongodb-proxy.ts'
import { useUndo } from '../../support/program.ts'
import {
  describeMongodb,
  mongodbPlace,
  useOwnStores,
  usersIn,
  type Place,
} from '../../support/stores.ts'
import { newUser, user } from '../../support/users.ts'

const undo = useUndo()

/** A new collection of users, and where it is. */
async function newCollection() {
  const place = mongodbPlace()
  const client = new MongoClient(place.MONGODB_URI!)
  undo.push(async () => {
    await client.close()
    await place.remove()
  })
  return { place, collection: client.db().collection('users') }
}

const { open } = useOwnStores(mongodbPlace)
const firstCall = async (place: Place) => (await open(place)).oldest()

/** What a program reads that cannot write. */
async function readAt(place: Place) {
  const reader = (await openExisting(place))!
  undo.push(() => reader.close())
  return usersIn(reader)
}

/** A new collection, and a proxy that knows the commands that the store at `behind` sends. */
async function newProxied() {
  const { place, collection } = await newCollection()
  const proxy = await startProxy(place.MONGODB_URI!)
  undo.push(() => proxy.close())
  return { collection, proxy, behind: { ...place, MONGODB_URI: proxy.uri } }
}

describeMongodb('a collection of other programs', () => {
  test('is checked in the async context of no caller', async () => {
    const { place } = await newCollection()
    const context = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const spied = jest.spyOn(Collection.prototype, 'indexes')
    spied.mockImplementation(async () => {
      seen.push(context.getStore())
      return []
    })
    undo.push(() => spied.mockRestore())
    const store = await open(place)
    await context.run('a caller', () => store.oldest())
    expect(seen).toEqual([undefined])
  })

  test('is not used while its emails are not unique, except to read', async () => {
    const { place, collection } = await newCollection()
    await collection.insertMany([{ email: 'a@x' }, { email: 'a@x' }])
    await expect(firstCall(place)).rejects.toThrow(StoreFailure)
    expect(await readAt(place)).toHaveLength(2)
  })

  test('cannot be read if it does not exist', async () => {
    const { place } = await newCollection()
    await expect(readAt(place)).rejects.toThrow(/NamespaceNotFound|ns does not exist/)
  })

  test('is read without a command that needs another right than to find', async () => {
    const { collection, proxy, behind } = await newProxied()
    await collection.insertOne({ email: 'a@x' })
    expect(await readAt(behind)).toHaveLength(1)
    const names = proxy.commands().map(({ name }) => name)
    expect(new Set(names)).toEqual(new Set(['find']))
  })

  test.each<[string, unknown]>([
    ['string', 'ada'],
    ['binData', new UUID()],
  ])('is not used if an _id is of type %s', async (type, _id) => {
    const { place, collection } = await newCollection()
    const least = new ObjectId('0'.repeat(24))
    await collection.insertMany([
      { _id: least, email: 'a@x' },
      { _id: _id as never, email: 'b@x' },
    ])
    const message = expect.stringContaining(`a document has one of type ${type}`)
    const failure = { kind: 'an _id is not an ObjectId', message }
    await expect(firstCall(place)).rejects.toMatchObject(failure)
    await expect(readAt(place)).rejects.toMatchObject(failure)
  })

  test.each<[unknown, string]>([
    [undefined, ''],
    [Long.fromString('9007199254740993'), '9007199254740993'],
  ])(
    'with a name that is %p, the user is renamed if that text is expected, and deleted in any case',
    async (value, text) => {
      const { place, collection } = await newCollection()
      const store = await open(place)
      const named = value === undefined ? {} : { name: value }
      const { insertedIds } = await collection.insertMany([{ ...named }, { ...named }])
      const [id = '', other = ''] = Object.values(insertedIds).map((one) => one.toHexString())
      expect(await store.rename(id, { name: 'Grace' }, ({ name }) => name !== text)).toBe('refused')
      expect(await store.rename(id, { name: 'Grace' }, ({ name }) => name === text)).toBe('done')
      expect(await store.find(id)).toMatchObject({ name: 'Grace' })
      expect(await store.remove(other)).toBe('done')
    },
  )

  test.each([
    ['object', { given: 'Ada' }],
    ['array', ['Ada', null]],
  ])(
    'with a name of type %s fails the calls that need this user, and no others',
    async (type, name) => {
      const { place, collection } = await newCollection()
      const store = await open(place)
      const other = await store.create(newUser())
      const { insertedId } = await collection.insertOne({ name, email: 'a@x' })
      const id = insertedId.toHexString()
      const failure = new StoreFailure(
        new Error(`its name, of type ${type}, cannot be read`),
        `read the user ${id}`,
        'a field is not text',
      )
      const calls = [
        () => store.find(id),
        () => store.findByEmail('a@x'),
        () => store.rename(id, { name: 'x' }, () => true),
        () => store.remove(id, () => true),
        () => store.rename(id, { name: 'x' }),
        () => store.remove(id),
      ]
      const others = () => [
        store.find(other.id),
        store.findByEmail(other.email),
        store.rename(other.id, { name: other.name }, () => true),
      ]
      const found = [other, other, 'done'].map((value) => ({ status: 'fulfilled', value }))
      for (const call of calls) {
        const results = await Promise.allSettled([call(), ...others()])
        expect(results).toEqual([{ status: 'rejected', reason: failure }, ...found])
      }
      await expect(usersIn(store)).rejects.toEqual(failure)
      await expect(store.create(newUser({ email: 'a@x' }))).rejects.toThrow(EmailTaken)
      expect(await collection.findOne({ _id: insertedId })).toMatchObject({ name })
      await collection.deleteOne({ _id: insertedId })
      expect(await usersIn(store)).toEqual([other])
    },
  )

  test('a name that has become an array since it was read is not changed', async () => {
    const { collection } = await newCollection()
    await collection.insertOne({ name: ['Ada', null], email: 'a@x' })
    for (const name of ['Ada', null]) {
      const read = fieldsOf(Buffer.from(BSON.serialize({ name, email: 'a@x' })))
      expect(await collection.findOne(asStored(read))).toBeNull()
    }
  })

  test('with any values in other fields is used, and these are never read', async () => {
    const { collection, proxy, behind } = await newProxied()
    const store = await open(behind)
    const fields = { search: new BSONRegExp('(?i)ada'), roles: ['admin'] }
    const { insertedId } = await collection.insertOne({ name: 'Ada', email: 'a@x', ...fields })
    const ada = { id: insertedId.toHexString(), name: 'Ada', email: 'a@x' }
    expect(await store.oldest()).toEqual(insertedId.getTimestamp())
    expect(await store.find(ada.id)).toMatchObject(ada)
    expect(await store.findByEmail('a@x')).toMatchObject(ada)
    expect(await usersIn(store)).toMatchObject([ada])
    await expect(store.create(newUser({ email: 'a@x' }))).rejects.toThrow(EmailTaken)
    expect(await store.rename(ada.id, { name: 'Grace' }, () => true)).toBe('done')
    const { roles } = fields
    expect(await collection.findOne({}, { projection: { search: 0 } })).toMatchObject({ roles })
    const projections = proxy
      .commands()
      .flatMap(({ name, projection }) => (name === 'find' ? [projection] : []))
    const read = new Set(projections.flatMap((one) => Object.keys(one ?? { all: 1 })))
    expect(['all', ...Object.keys(fields)].filter((field) => read.has(field))).toEqual([])
  })

  test('with an email that is an array or empty has no user with that email', async () => {
    const { place, collection } = await newCollection()
    const store = await open(place)
    const documents = [{ name: 'Ada', email: '' }, { email: ['a@x', 'b@x'] }]
    const { insertedIds } = await collection.insertMany(documents)
    for (const email of ['a@x', '']) expect(await store.findByEmail(email)).toBeUndefined()
    const again = user({ id: insertedIds[0]!.toHexString(), email: '' })
    await expect(store.create(again)).rejects.toThrow(IdTaken)
  })
})

test.each<[boolean, object]>([
  [true, { key: { email: 1 }, unique: true, name: 'mine', sparse: true }],
  [true, { key: { email: 1 }, unique: true, collation: { locale: 'en', strength: 2 } }],
  [false, { key: { username: 1 }, unique: true }],
  [false, { key: { email: 1 } }],
  [false, { key: { email: 1, tenant: 1 }, unique: true }],
  [false, { key: { email: 1 }, unique: true, partialFilterExpression: { email: {} } }],
])('%p: an index with %j makes all emails unique, and none is made', async (isUsed, index) => {
  const made: unknown[] = []
  const users = {
    indexes: async () => [index],
    createIndex: async (...args: unknown[]) => void made.push(args),
  }
  await ensureUniqueEmail(users as unknown as Users)
  const options = { name: 'users_email_unique', unique: true, sparse: true } // leaves out users without an email
  expect(made).toEqual(isUsed ? [] : [[{ email: 1 }, options]])
})
