// Users of a file into a store.
import { expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import { formatOf, serialize } from '../../../../scripts/users/transfer/formats.ts'
import { importUsers, newTally } from '../../../../scripts/users/transfer/import.ts'
import type { Line } from '../../../../scripts/users/transfer/lines.ts'
import { readText } from '../../../../scripts/users/transfer/text.ts'
import { openDryRun } from '../../../../scripts/users/transfer/dry-run.ts'
import { openExisting, openStore } from '../../../../src/store/open.ts'
import { pagesOf } from '../../../../src/store/pages.ts'
import { StoreFailure } from '../../../../src/store/failure.ts'
import type { ImportResult, UserStore } from '../../../../src/store/user-store.ts'
import { failing } from '../../../support/failing-store.ts'
import {
  describeStores,
  usersIn,
  sqlitePlace,
  usersAt,
  type Place,
} from '../../../support/stores.ts'
import { inChunks, useTransfers } from '../../../support/transfers.ts'
import { newUser } from '../../../support/users.ts'

const { at } = useTransfers()

type Options = { update?: boolean; newIds?: boolean; isDryRun?: boolean }

/** Imports a file of this content; what became of its users, and the lines that were refused. */
async function importText(place: Place, format: string, text: string, options: Options = {}) {
  const store = await (options.isDryRun ? openDryRun : openStore)(place)
  const lines = formatOf('-', format).read(readText(inChunks(Buffer.from(text), 65_536)))
  const reported: string[] = []
  const report = (position: string, what: string) => reported.push(`${position}: ${what}`)
  const { tally } = await importLines(lines, store, options, report)
  await store.close()
  const { created, updated, unchanged, duplicate, refused } = tally.counts
  return { counts: [created, updated, unchanged, duplicate, refused], reported, tally }
}

/** The users of a store as the text of a file. */
async function exported(store: UserStore, format: string): Promise<string> {
  let file = ''
  for await (const part of serialize(formatOf('-', format), pagesOf(store))) file += part
  return file
}

async function importLines(
  lines: AsyncIterable<Iterable<Line>>,
  store: UserStore,
  { update = false, newIds = false } = {},
  report: (place: string, what: string) => void = () => {},
) {
  const tally = newTally()
  const { signal } = new AbortController()
  const importing = importUsers(lines, { store, update, newIds, report, signal, tally })
  const failure: unknown = await importing.catch((error) => error)
  return { tally, failure }
}

const ID = 'a'.repeat(24)
const OTHER_ID = 'b'.repeat(24)

describeStores((kind) => {
  test('importing a file again changes nothing, and lists the duplicates that differ', async () => {
    const place = at(kind)
    const file = `id,name,email\n,Ada,ada@x\n,Bob\n${ID},Nobody,\n,Ada again,ada@x\n"broken,x@x\n`
    const few = 'line 3: it has 2 fields, but the first line has 3 titles'
    const refused = [few, 'line 6: its quotes are broken']
    const first = await importText(place, 'csv', file)
    const users = await usersAt(place)
    expect(users.map(({ name }) => name).toSorted()).toEqual(['Ada', 'Nobody'])
    const { id } = users.find(({ name }) => name === 'Ada')!
    const listed = [...refused, `line 5: duplicate: the user ${id} has its email`]
    expect([first.counts, first.reported]).toEqual([[2, 0, 0, 1, 2], listed])
    const again = await importText(place, 'csv', file)
    expect([again.counts, again.reported]).toEqual([[0, 0, 2, 1, 2], listed])
    expect(await usersAt(place)).toEqual(users)
  })

  test('a user is unchanged only if the id is the same, too', async () => {
    const place = at(kind)
    await importText(place, 'csv', `id,name,email\n${ID},Ada,a@x\n`)
    const others = `id,name,email\n${OTHER_ID},Ada,a@x\n${ID},Bob,b@x\n${ID},Ada,a@x\n`
    const { counts, reported } = await importText(place, 'csv', others)
    expect(counts).toEqual([0, 0, 1, 2, 0])
    expect(reported).toEqual([
      `line 2: duplicate: the user ${ID} has its email`,
      `line 3: duplicate: the user ${ID} has its id`,
    ])
  })

  test('--update changes the names of users by their emails; a dry run counts what an import would do', async () => {
    const place = at(kind)
    const file = `id,name,email\n${ID},Ada,a@x\n`
    const first = await importText(place, 'csv', file, { isDryRun: true })
    expect(first.counts).toEqual([1, 0, 0, 0, 0])
    expect(await openExisting(place)).toBeUndefined()
    if (!place.MONGODB_URI) expect(readdirSync(place.DATA_DIR)).toEqual([])
    await importText(place, 'csv', file)
    const users = await usersAt(place)
    const more = `id,name,email\n,Eve,a@x\n,Bob,b@x\n,Bob,b@x\n${ID},Cy,c@x\n,Bob\n,,a@x\n`
    for (const isDryRun of [true, false]) {
      const { counts, reported } = await importText(place, 'csv', more, { isDryRun, update: true })
      expect(counts).toEqual([1, 1, 1, 1, 2])
      expect(reported.slice(1)).toEqual([
        `line 2: the user ${ID} has got this name`,
        `line 5: duplicate: the user ${ID} has its id`,
        `line 7: its name is empty: the user ${ID} keeps the old name`,
      ])
      if (isDryRun) expect(await usersAt(place)).toEqual(users)
    }
    const changed = await usersAt(place)
    expect(changed).toHaveLength(2)
    expect(changed).toEqual(expect.arrayContaining([{ ...users[0], name: 'Eve' }]))
  })

  test.each(['csv', 'ndjson', 'json'])('users move here and back: %s', async (format) => {
    const [first, ...others] = [at(sqlitePlace), at(kind), at(sqlitePlace)]
    let store = await openStore(first)
    for (const name of ['', 'a\0b', '"', ',', '\r\n', ' x ', '\uFEFF', '\u{10FFFF}', '=1+1']) {
      await store.create(newUser({ name, email: `${name}-@example.com` }))
      await store.create(newUser({ name, email: '' }))
    }
    const users = await usersIn(store)
    for (const place of others) {
      const file = await exported(store, format)
      await store.close()
      expect((await importText(place, format, file)).counts).toEqual([18, 0, 0, 0, 0])
      store = await openStore(place)
      expect(await usersIn(store)).toEqual(users)
    }
    await store.close()
  })
})

test('an import takes what POST takes, and refuses what POST refuses', async () => {
  const place = at(sqlitePlace)
  const taken = [
    { name: 7, email: true },
    { name: null, email: 'b@x' },
    { email: 'c@x', admin: 1 },
  ]
  const others = [{ name: {}, email: 'd@x' }, { name: 'x', email: '\uD800' }, {}]
  const file = [...taken, ...others].map((line) => JSON.stringify(line)).join('\n')
  expect((await importText(place, 'ndjson', file)).reported).toEqual([
    'line 4: field `name` must be a string',
    'line 5: field `email` must not contain a lone surrogate',
    'line 6: it has neither a name nor an email',
  ])
  const users = (await usersAt(place)).map(({ name, email }) => [name, email])
  expect(users.map((user) => user.join())).toEqual(['7,true', ',b@x', ',c@x'])
})

test('an import refuses an id of another form, unless ids are ignored', async () => {
  const place = at(sqlitePlace)
  const file = 'id,name,email\n1,Ada,a@x\n'
  const { reported } = await importText(place, 'csv', file)
  expect(reported.join()).toMatch(/^line 2: field `id` must be 24 lower-case .*--new-ids ignores/)
  expect((await importText(place, 'csv', file, { newIds: true })).counts).toEqual([1, 0, 0, 0, 0])
})

test('an import refuses a user of more than 1 MB', async () => {
  const place = at(sqlitePlace)
  const names = ['€'.repeat(350_000), '€'.repeat(345_000), 'Cy']
  const file = `name,email\n${names.map((name, i) => `${name},${i}@x\n`).join('')}`
  const { counts, reported } = await importText(place, 'csv', file)
  expect(counts).toEqual([2, 0, 0, 0, 1])
  expect(reported).toEqual(['line 2: it is longer than 1,048,576 bytes'])
})

const EXTENDED = `{"_id":{"$oid":"${ID}"},"name":"Ada","email":"a@x"}`

test.each([
  ['ndjson', EXTENDED],
  ['csv', `_id,name,email\nObjectId(${ID}),Ada,a@x\n`],
])('the id of a document of MongoDB is kept: %s', async (format, file) => {
  const place = at(sqlitePlace)
  await importText(place, format, file)
  expect(await usersAt(place)).toMatchObject([{ id: ID, name: 'Ada', email: 'a@x' }])
})

const NULLS = [
  'NULL',
  '\\N',
  '#N/A',
  'null',
  '(null)',
  '[NULL]',
  '<null>',
  'n/a',
  'NaN',
  'None',
  '-',
]

test.each(NULLS)('%s in place of an email is no email, but it may be a name', async (text) => {
  const place = at(sqlitePlace)
  const names = text === '-' ? ['Ada', 'Bob'] : [text, text]
  const file = `name,email\n${names.map((name) => `${name},${text}\n`).join('')}`
  const { counts, tally } = await importText(place, 'csv', file)
  expect(counts).toEqual([2, 0, 0, 0, 0])
  expect(tally.notes.get('emails left out, because they are NULL or the like')).toBe(2)
  const users = (await usersAt(place)).map(({ name, email }) => [name, email])
  expect(users).toEqual(names.map((name) => [name, '']))
})

test('an email of many blanks is read in time', async () => {
  const file = JSON.stringify({ name: 'Ada', email: `${' '.repeat(100_000)}a` })
  expect((await importText(at(sqlitePlace), 'ndjson', file)).counts).toEqual([1, 0, 0, 0, 0])
})

test('what is exported is exact, even if it looks like no user', async () => {
  const [first, second] = [at(sqlitePlace), at(sqlitePlace)]
  const texts = ['NULL', '\\N', 'Email', 'Ada <a@x>', '="x"', 'Grand Total', '---', ' \u200Ba@x']
  let store = await openStore(first)
  for (const text of texts) await store.create(newUser({ name: text, email: text }))
  const users = await usersIn(store)
  for (const format of ['csv', 'ndjson', 'json']) {
    const file = await exported(store, format)
    await store.close()
    await second.remove()
    expect((await importText(second, format, file)).counts).toEqual([8, 0, 0, 0, 0])
    store = await openStore(second)
    expect(await usersIn(store)).toEqual(users)
  }
  await store.close()
})

test('an import counts what is unusual, and shows the first user that is stored', async () => {
  const place = at(sqlitePlace)
  const lines = ['broken', 'Ada,ada', ',b@x', 'Cy,c@x ::: c@y', 'Dan,', ',e@x']
  const { tally } = await importText(place, 'csv', `name,email\n${lines.join('\n')}\n`)
  expect(tally.first).toMatchObject({ name: 'Ada', email: 'ada' })
  expect(Object.fromEntries(tally.notes)).toEqual({
    'emails without an @': 1,
    'empty names': 2,
    'emails that are not one plain address': 1,
    'users without an email and an id: another run stores them again': 1,
  })
})

/** Imports users into a store; the size of each batch. */
async function sizesOf(count: number, createMany = () => {}, user: object = newUser()) {
  const sizes: number[] = []
  const store = failing({
    maxBatchSize: 1_000,
    async createMany(users) {
      createMany()
      sizes.push(users.length)
      return users.map((): ImportResult => 'created')
    },
  })
  async function* lines(): AsyncGenerator<Line[]> {
    yield Array.from({ length: count }, (_, i) => ({ line: i + 1, fields: { ...user } }))
  }
  return { sizes, ...(await importLines(lines(), store)) }
}

test('a batch has as many users as the store takes at once', async () => {
  const { sizes, tally } = await sizesOf(2_500)
  expect(sizes).toEqual([1_000, 1_000, 500])
  expect([tally.counts.created, tally.lastLine]).toEqual([2_500, 'line 2500'])
})

test('a batch of long users has fewer, so that it fits into memory', async () => {
  const { sizes } = await sizesOf(10, () => {}, newUser({ name: 'x'.repeat(1_000_000) }))
  expect(sizes).toEqual([4, 4, 2])
})

test('when the store fails, what was stored before is counted, and nothing more is tried', async () => {
  let calls = 0
  const { sizes, tally, failure } = await sizesOf(10_000, () => {
    calls += 1
    if (calls === 3) throw new StoreFailure(new Error('gone'))
  })
  expect(failure).toBeInstanceOf(StoreFailure)
  expect(calls).toBe(3)
  expect(sizes).toEqual([1_000, 1_000])
  expect([tally.counts.created, tally.lastLine]).toEqual([2_000, 'line 2000'])
})

test('with --update, two lines with one email and different names are not both stored', async () => {
  async function* lines(): AsyncGenerator<Line[]> {
    const of = (name: string, line: number) => ({ line, fields: { name, email: 'info@x' } })
    yield [of('Ada', 1), of('Bo', 2), of('Ada', 3)]
  }
  const store = failing({
    maxBatchSize: 10,
    createMany: async (users) => users.map((): ImportResult => 'created'),
  })
  const { tally } = await importLines(lines(), store, { update: true })
  expect(tally.counts).toMatchObject({ refused: 1 })
})
