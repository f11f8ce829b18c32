// The stores under test, and a suite of tests for each of them.
import { afterAll, afterEach, beforeAll, describe } from '@jest/globals'
import { DatabaseSync } from '@photostructure/sqlite'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MongoClient, ObjectId } from 'mongodb'
import { SECRET } from '../chassis/support/requests.ts'
import { databaseIn, openStore } from '../../src/store/open.ts'
import { pagesOf } from '../../src/store/pages.ts'
import type { ListQuery, NewUser, User, UserStore } from '../../src/store/user-store.ts'

/** Where a store keeps its users: what `openStore` takes, and the same as environment variables. */
export type Place = Parameters<typeof openStore>[0] & {
  environment: Record<string, string>
  remove: () => Promise<void>
}

export { SECRET }

export function sqlitePlace(): Place {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'users-service-'))
  return {
    MONGODB_URI: undefined,
    DATA_DIR,
    environment: { DATA_DIR },
    remove: async () => rmSync(DATA_DIR, { recursive: true, force: true }),
  }
}

/** The database of a store, as another program opens it. */
export const databaseOf = ({ DATA_DIR }: Place) => new DatabaseSync(databaseIn(DATA_DIR))

/** What SQLite finds wrong with a database, which can be in use. */
export function faultsIn(place: Place): unknown[] {
  const db = databaseOf(place)
  const found = db.prepare('PRAGMA integrity_check').all()
  db.close()
  return found.filter((row) => (row as Record<string, unknown>)['integrity_check'] !== 'ok')
}

/** A new database, by default on the server that the tests were given; with a password, its URI needs `authSource`, too. */
export function mongodbPlace(server = process.env['MONGODB_URI']!): Place {
  const MONGODB_URI = server.replace(DATABASE, `$1/test-${randomUUID()}`)
  return {
    MONGODB_URI,
    DATA_DIR: '/nowhere',
    environment: { MONGODB_URI, SIGNING_SECRET: SECRET },
    async remove() {
      const client = new MongoClient(MONGODB_URI)
      await client.db().dropDatabase()
      await client.close()
    },
  }
}

/** The server in a connection string, and the database. */
const DATABASE = /^(mongodb(?:\+srv)?:..[^/?]+)(\/[^?]*)?/

/** Creates users, all at once. */
export const createIn = (store: UserStore, users: NewUser[]): Promise<User[]> =>
  Promise.all(users.map((one) => store.create(one)))

/** Creates users at a place. */
export async function createAt(place: Place, ...users: NewUser[]): Promise<User[]> {
  const store = await openStore(place)
  await store.oldest() // makes the collection, as a service does at its start, also without users
  const created = await createIn(store, users)
  await store.close()
  return created
}

/** Stores a user who has an id, and what the first version of the service needed, but no other field. */
export async function createBareAt(place: Place, id: string): Promise<void> {
  if (!place.MONGODB_URI)
    return databaseOf(place).exec(`INSERT INTO users (id, name) VALUES ('${id}', '')`)
  const client = new MongoClient(place.MONGODB_URI)
  await client
    .db()
    .collection('users')
    .insertOne({ _id: new ObjectId(id) })
  await client.close()
}

/** All users at a place. */
export async function usersAt(place: Place): Promise<User[]> {
  const store = await openStore(place)
  const users = await usersIn(store)
  await store.close()
  return users
}

/** The users of a list. */
export async function usersIn(store: UserStore, which?: ListQuery) {
  const users: User[] = []
  for await (const page of pagesOf(store, which)) users.push(...page)
  return users
}

/** `describe` for tests that need MongoDB; without a server they are reported as skipped. */
export const describeMongodb: typeof describe.skip = process.env['MONGODB_URI']
  ? describe
  : describe.skip

/** Describes `suite` for each store, or with ONLY_SQLITE for SQLite. */
export function describeStores(suite: (place: () => Place) => void): void {
  describe('on SQLite', () => suite(sqlitePlace))
  if (!process.env['ONLY_SQLITE']) describeMongodb('on MongoDB', () => suite(mongodbPlace))
}

/** Opens one store for all tests of a suite. */
export function useStore(place: () => Place): () => UserStore {
  let store: UserStore
  let where: Place
  beforeAll(async () => {
    where = place()
    store = await openStore(where)
  })
  afterAll(async () => {
    await store.close()
    await where.remove()
  })
  return () => store
}

/** Makes places for single tests; after each test they are removed. */
export function usePlaces() {
  const places = new Set<Place>()
  afterEach(async () => {
    for (const place of places) await place.remove()
    places.clear()
  })
  return (kind: () => Place): Place => {
    const place = kind()
    places.add(place)
    return place
  }
}

/** Makes places and opens stores for single tests; after each test they are closed and removed. */
export function useOwnStores(kind: () => Place) {
  const stores = new Set<UserStore>()
  afterEach(async () => {
    for (const store of stores) await store.close().catch(() => {}) // the test may have closed it
    stores.clear()
  })
  const at = usePlaces()
  const newPlace = () => at(kind)
  const open = async (place = newPlace()) => {
    const store = await openStore(place)
    stores.add(store)
    return store
  }
  return { newPlace, open }
}
