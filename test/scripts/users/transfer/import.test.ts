// Batches of users, to a store that fails at the third.
import { expect, test } from '@jest/globals'
import { formatOf } from '../../../../scripts/users/transfer/formats.ts'
import { importUsers } from '../../../../scripts/users/transfer/import.ts'
import { userIn } from '../../../../scripts/users/transfer/users.ts'
import { batched, StoreFailure } from '../../../../src/chassis/index.ts'
import {
  EmailTaken,
  type NewUser,
  type User,
  type UserStore,
} from '../../../../src/store/user-store.ts'
import { failing } from '../../../support/failing-store.ts'
import { inChunks } from '../../../support/transfers.ts'
import { user as userOf } from '../../../support/users.ts'

/** A file of users with a name of this length. */
function many(count: number, length: number): string {
  const lines = Array.from({ length: count }, (_, i) => `${'x'.repeat(length)},${i}@x\n`)
  return `name,email\n${lines.join('')}`
}

/** Imports a file; the size of each batch, the counts, and the failure. */
async function importFile(text: string, update = false, own: Partial<UserStore> = {}) {
  const sizes: number[] = []
  const reported: string[] = []
  const store = failing({
    create: batched(
      async (users: NewUser[]) => {
        if (sizes.push(users.length) === 3) throw new StoreFailure(new Error('gone'))
        return users as User[]
      },
      { maxBatchSize: Infinity },
    ),
    ...own,
  })
  const { reader, write } = formatOf('.csv')
  const counts = { created: 0, updated: 0, unchanged: 0, duplicate: 0, refused: 0 }
  const to = {
    reader: reader([]),
    update,
    begin: async () => store,
    report: (line: number, what: string) => void reported.push(`${line}: ${what}`),
    counts,
  }
  const file = inChunks(Buffer.from(text), 65_536)
  const importing = importUsers(file, { ...to, userIn: (row) => userIn(row, false, write) })
  const failure: unknown = await importing.catch((error) => error)
  return { sizes, created: counts.created, counts, failure, reported }
}

test('a batch is limited in users and in length; after one that fails, nothing is tried', async () => {
  const { sizes, created, failure } = await importFile(many(6_000, 3))
  expect([sizes, created]).toEqual([[2_500, 2_500, 1_000], 5_000])
  expect(failure).toBeInstanceOf(StoreFailure)
  expect((await importFile(many(10, 1_000_000))).sizes).toEqual([4, 4, 2])
})

const WITH_ID = `id,name,email\n${'a'.repeat(24)},Ada,a@x\n`
test.each([
  ['its email', 1502, `${many(1_500, 3)}Eve,0@x\n`],
  ['its id', 3, `${WITH_ID}${'a'.repeat(24)},Eve,b@x\n`],
  ['its email, and no id', 3, `${WITH_ID},Eve,a@x\n`],
])(
  'with --update, a row is refused if one far before it has %s, and another name',
  async (...row) => {
    const { reported } = await importFile(row[2], true)
    expect(reported).toEqual([`${row[1]}: another row has its email or id, and another name`])
  },
)

test('with --update, a user who is deleted meanwhile is not counted as updated', async () => {
  const { counts } = await importFile('name,email\nAda,a@x\n', true, {
    create: () => Promise.reject(new EmailTaken('a@x')),
    findByEmail: async () => userOf({ name: 'Eve', email: 'a@x' }),
    rename: async () => 'not found',
  })
  expect(counts).toMatchObject({ updated: 0, duplicate: 1 })
})
