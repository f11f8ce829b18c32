// import-users beside a service, stopped and killed.
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { createUsersClient } from '../../../src/client/client.ts'
import { openStore } from '../../../src/store/open.ts'
import { run, serve } from '../../support/program.ts'
import { tokens } from '../../support/service.ts'
import { describeStores, SECRET, usersAt, type Place } from '../../support/stores.ts'
import { useTransfers } from '../../support/transfers.ts'
import { newUser } from '../../support/users.ts'

const { at, file, importUsers } = useTransfers()

/** A server without indexes, which may stand in for MongoDB, reads all users for each look-up. */
const many = ({ MONGODB_URI }: Place, most: number) => (MONGODB_URI ? 10_000 : most)

function people(count: number): string {
  const lines = Array.from({ length: count }, (_, i) => `Ada,ada-${i}@x\n`)
  return file('people.csv', `name,email\n${lines.join('')}`)
}

describeStores((kind) => {
  test('an import is safe while a service runs', async () => {
    const place = at(kind)
    const service = serve(place, { SIGNING_SECRET: SECRET })
    const url = await service.listening()
    const count = many(place, 50_000)
    const importing = run('scripts/users/import-users', place, {}, [people(count)])
    const users = createUsersClient({ baseUrl: url, token: tokens.issue('x') })
    const statuses = new Set<number>()
    let created = 0
    do {
      created += 1
      statuses.add((await users.POST('/users', { body: newUser() })).response.status)
    } while (importing.process.exitCode === null)
    expect([...statuses]).toEqual([201])
    expect(await importing.ended).toBe(0)
    expect(await usersAt(place)).toHaveLength(count + created)
  })

  const SIGNALS = ['SIGINT', 'SIGKILL'] as const
  test.each(SIGNALS)('an import that is ended by %s goes on when run again', async (signal) => {
    const place = at(kind)
    const count = many(place, 200_000)
    const importing = run('scripts/users/import-users', place, {}, [people(count)])
    const store = await openStore(place)
    while (await store.isEmpty()) await sleep(10)
    await store.close()
    importing.process.kill(signal)
    expect(await importing.ended).toBe(signal === 'SIGINT' ? 130 : signal)
    let stored = 0
    // MongoDB may still be inserting the last users of a killed program.
    for (let before = -1; before !== stored; await sleep(200)) {
      before = stored
      stored = (await usersAt(place)).length
    }
    expect(stored).toBeLessThan(count)
    const { code, stdout } = await importUsers(place, people(count))
    const [created, unchanged] = [count - stored, stored].map((n) => n.toLocaleString('en'))
    const summary = `created ${created}, updated 0, unchanged ${unchanged}, duplicate 0, refused 0\n`
    expect([code, stdout]).toEqual([0, expect.stringContaining(summary)])
    expect(await usersAt(place)).toHaveLength(count)
  })
})
