// The service while it is killed, and while its disk is full: nothing that was acknowledged is lost. (While MongoDB
// cannot be reached: store/mongo/unreachable.long.ts.)
import { expect, test } from '@jest/globals'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { User } from '../src/store/user-store.ts'
import { Load } from './support/load.ts'
import { serve, started, useUndo, type Program } from './support/program.ts'
import { testAsRoot, tmpfsPlace } from './support/root.ts'
import { send } from './support/service.ts'
import type { Place } from './support/stores.ts'
import { faultsIn, SECRET, sqlitePlace, usePlaces, usersAt } from './support/stores.ts'

useUndo()
const at = usePlaces()

const ENV = { SIGNING_SECRET: SECRET, STOP_DELAY: '0s' }
const serveAt = (place: Place) => serve(place, ENV)
const start = (place: Place) => started(place, ENV)

const portOf = (service: Program) => Number(new URL(service.url()).port)
const listAt = async (service: Program): Promise<User[]> =>
  (await send(portOf(service), 'GET /users')).json

const anyTime = (most: number) => sleep(Math.random() * most)

// SECURITY.md: An acknowledged write is durable.
// SECURITY.md: The service recovers by itself
test('kill -9 under a write load, also at the start, loses nothing that was acknowledged, and the next start needs no help', async () => {
  const place = at(sqlitePlace)
  let service = await start(place)
  const load = new Load(() => service.url(), 'killed')
  for (let round = 0; round < 10; round += 1) {
    load.start(8)
    await load.more(201)
    await anyTime(400)
    await service.stop('SIGKILL')
    await load.stop()
    const halfStarted = serveAt(place)
    await anyTime(400)
    await halfStarted.stop('SIGKILL')
    service = await start(place)
    expect(load.contradictedBy(await listAt(service))).toEqual([])
    expect(faultsIn(place)).toEqual([])
  }
  expect(load.count(500)).toBe(0)
})

// SECURITY.md: The service recovers by itself
testAsRoot(
  'while the disk is full, writes get 500 while reads continue, and succeed again afterwards',
  async () => {
    const place = at(() => tmpfsPlace('8m'))
    const filler = join(place.DATA_DIR, 'filler')
    const service = await start(place)
    const load = new Load(() => service.url(), 'paused')
    load.start(4)
    await load.more(201)
    for (let size = 8 * 1024 * 1024; size > 0; size = Math.floor(size / 2)) {
      try {
        for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' })
      } catch {} // there is less room than that
    }
    await load.more(500)
    expect((await listAt(service)).length).toBeGreaterThan(0)
    rmSync(filler)
    await load.more(201)
    await load.stop()
    expect([200, 201, 204, 404, 500]).toEqual(expect.arrayContaining([...load.outcomes.keys()]))
    expect(service.output.stdout).toMatch(/"level":"error".*"cause":"[^"]*database or disk is full/)
    await service.stop('SIGKILL')
    expect(load.contradictedBy(await usersAt(place))).toEqual([])
    expect(faultsIn(place)).toEqual([])
  },
)
