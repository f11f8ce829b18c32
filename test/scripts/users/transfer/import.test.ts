// Batches of users, to a store that fails at the third.
import { expect, test } from '@jest/globals'
import { formatOf } from '../../../../scripts/users/transfer/formats.ts'
import { importUsers } from '../../../../scripts/users/transfer/import.ts'
import { userIn } from '../../../../scripts/users/transfer/users.ts'
import { batched, StoreFailure } from '../../../../src/chassis/index.ts'
import type { NewUser, User } from '../../../../src/store/user-store.ts'
import { failing } from '../../../support/failing-store.ts'
import { inChunks } from '../../../support/transfers.ts'

/** Imports users with a name of this length; the size of each batch, how many were created, and the failure. */
async function importMany(count: number, length: number, last = '', update = false) {
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
  })
  const { reader, write } = formatOf('.csv')
  const counts = { created: 0, updated: 0, unchanged: 0, duplicate: 0, refused: 0 }
  const lines = Array.from({ length: count }, (_, i) => `${'x'.repeat(length)},${i}@x\n`)
  const to = {
    reader: reader([]),
    update,
    begin: async () => store,
    report: (line: number, what: string) => void reported.push(`${line}: ${what}`),
    counts,
  }
  const file = inChunks(Buffer.from(`name,email\n${lines.join('')}${last}`), 65_536)
  const importing = importUsers(file, { ...to, userIn: (row) => userIn(row, false, write) })
  const failure: unknown = await importing.catch((error) => error)
  return { sizes, created: counts.created, failure, reported }
}

test('a batch is limited in users and in length; after one that fails, nothing is tried', async () => {
  const { sizes, created, failure } = await importMany(6_000, 3)
  expect([sizes, created]).toEqual([[2_500, 2_500, 1_000], 5_000])
  expect(failure).toBeInstanceOf(StoreFailure)
  expect((await importMany(10, 1_000_000)).sizes).toEqual([4, 4, 2])
})

test('with --update, a row with the email of another row far before it and another name is refused', async () => {
  const { reported } = await importMany(1_500, 3, 'Eve,0@x\n', true)
  expect(reported).toEqual(['1502: another row has its email or id, and another name'])
})
