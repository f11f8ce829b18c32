// Users that move from one store to the other.
import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mongodbPlace, sqlitePlace } from '../support/stores.ts'
import { useTransfers } from '../support/transfers.ts'

const { folder, at, file, importUsers, exportUsers } = useTransfers()

const testMongodb = process.env['MONGODB_URI'] ? test : test.skip

/** More on a server with indexes: one without, which may stand in for MongoDB, reads all users for each look-up. */
const USERS = Number(process.env['MOVED_USERS'] ?? 2_000)

testMongodb(`${USERS} users move from SQLite to MongoDB and back unchanged`, async () => {
  const [first, second, third] = [at(sqlitePlace), at(mongodbPlace), at(sqlitePlace)]
  const lines = Array.from({ length: USERS }, (_, i) => `"Ada ${i}, 💩",ada-${i}@example.com\n`)
  await importUsers(first, file('people.csv', `name,email\n${lines.join('')}`))
  const exports = ['one', 'two', 'three'].map((name) => join(folder(), `${name}.ndjson`))
  const [one = '', two = '', three = ''] = exports
  await exportUsers(first, one)
  await importUsers(second, one)
  await exportUsers(second, two)
  await importUsers(third, two)
  await exportUsers(third, three)
  const [before, between, after] = exports.map((name) => readFileSync(name, 'utf8'))
  expect(before!.match(/\n/g)).toHaveLength(USERS)
  expect(between === before).toBe(true) // the difference would be long
  expect(after === before).toBe(true)
})
