// export-users, as a program.
import { beforeEach, expect, test } from '@jest/globals'
import { lstatSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { CSV_TITLES, csvLine } from '../../../scripts/users/transfer/csv.ts'
import type { User } from '../../../src/store/user-store.ts'
import { createAt, sqlitePlace, type Place } from '../../support/stores.ts'
import { useTransfers } from '../../support/transfers.ts'
import { newUser } from '../../support/users.ts'

const { folder, at, file, exportUsers } = useTransfers()

let place: Place
let ada: User
beforeEach(async () => {
  place = at(sqlitePlace)
  ada = (await createAt(place, newUser()))[0]!
})

const csv = () => CSV_TITLES + csvLine(ada)

test('users are written to standard output as NDJSON', async () => {
  const { code, stdout, stderr } = await exportUsers(place, '-')
  expect([code, stdout]).toEqual([0, `${JSON.stringify(ada)}\n`])
  expect(stderr).toMatch(
    /^users are kept in SQLite in .*\nexported 1; [\d.]+ s, [\d,]+ users\/s\n$/,
  )
})

test('an export is compressed if the name of the file says so, and only its owner may read it', async () => {
  const target = join(folder(), 'users.csv.gz')
  expect((await exportUsers(place, target)).code).toBe(0)
  expect(gunzipSync(readFileSync(target)).toString()).toBe(csv())
  expect(statSync(target).mode & 0o777).toBe(0o600)
})

test('a file is overwritten only with --force, and then also through a link', async () => {
  const target = file('people.csv', 'mine')
  const link = join(folder(), 'link.csv')
  symlinkSync(target, link)
  const { code, stderr } = await exportUsers(place, link)
  expect([code, stderr]).toEqual([1, `${link} exists: --force overwrites it\n`])
  expect(readFileSync(target, 'utf8')).toBe('mine')
  expect((await exportUsers(place, '--force', link)).code).toBe(0)
  expect(readFileSync(target, 'utf8')).toBe(csv())
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
})
