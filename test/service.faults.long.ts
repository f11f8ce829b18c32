// The service while it is killed or stopped, and while its disk or its database fails: nothing that was
// acknowledged is lost.
import { DatabaseSync } from '@photostructure/sqlite'
import { expect, test } from '@jest/globals'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { User } from '../src/store/user-store.ts'
import { startMongodb } from './support/mongodb.ts'
import { Load } from './support/load.ts'
import { freePort, serve, started, useUndo, type Program } from './support/program.ts'
import { testAsRoot, tmpfsPlace } from './support/root.ts'
import { send } from './support/service.ts'
import type { Place } from './support/stores.ts'
import { mongodbPlace, SECRET, sqlitePlace, usePlaces, usersAt } from './support/stores.ts'

const undo = useUndo()
const at = usePlaces()

const ENV = { SIGNING_SECRET: SECRET, STOP_DELAY: '0s' }
const serveAt = (place: Place) => serve(place, ENV)
const start = (place: Place) => started(place, ENV)

async function kill(service: Program): Promise<void> {
  service.process.kill('SIGKILL')
  await service.ended
}

const portOf = (service: Program) => Number(new URL(service.url()).port)
const listAt = async (service: Program): Promise<User[]> =>
  (await send(portOf(service), 'GET /users')).json

/** What SQLite finds wrong with a database that can be in use. */
function faultsIn(place: Place): unknown[] {
  const db = new DatabaseSync(join(place.DATA_DIR, 'users.db'), { readOnly: true })
  const found = db.prepare('PRAGMA integrity_check').all()
  db.close()
  return found.filter((row) => (row as Record<string, unknown>)['integrity_check'] !== 'ok')
}

/** A slow machine may see fewer outcomes, and no others. `more()` waits for those that a test needs. */
const expectOnly = ({ outcomes }: Load, ...allowed: unknown[]) =>
  expect(allowed).toEqual(expect.arrayContaining([...outcomes.keys()]))

const anyTime = (most: number) => sleep(Math.random() * most)

test('kill -9 under a write load, also at the start, loses nothing that was acknowledged, and the next start needs no help', async () => {
  const place = at(sqlitePlace)
  let service = await start(place)
  const load = new Load(() => service.url(), 'killed')
  for (let round = 0; round < 10; round += 1) {
    load.start(8)
    await load.more(201)
    await anyTime(400)
    await kill(service)
    await load.stop()
    const halfStarted = serveAt(place)
    await anyTime(400)
    await kill(halfStarted)
    service = await start(place)
    expect(load.contradictedBy(await listAt(service))).toEqual([])
    expect(faultsIn(place)).toEqual([])
  }
  expect(load.count(500)).toBe(0)
})

test('SIGTERM under load cuts no response, and loses nothing that was acknowledged', async () => {
  const place = at(sqlitePlace)
  let service: Program
  const load = new Load(() => service.url(), 'stopped')
  for (let round = 0; round < 5; round += 1) {
    service = await start(place)
    load.start(8, 2)
    await load.more(201)
    await anyTime(400)
    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    await load.stop()
    expect(load.contradictedBy(await usersAt(place))).toEqual([])
  }
  expect([load.count('cut'), load.count(500)]).toEqual([0, 0])
})

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
    expectOnly(load, 200, 201, 204, 404, 500)
    expect(service.output.stdout).toMatch(/"level":50.*"cause":"[^"]*database or disk is full/)
    await kill(service)
    expect(load.contradictedBy(await usersAt(place))).toEqual([])
    expect(faultsIn(place)).toEqual([])
  },
)

const testDocker = process.env['MONGODB_IN_CONTAINER'] === undefined ? test.skip : test
const stops = ['stops', 'kill', 'start'] as const
const faults = [stops, ['hangs', 'pause', 'unpause'] as const]

testDocker.each(faults)(
  'MongoDB %s under load and comes back: requests get 500 in time, the service stays ready, and nothing that was acknowledged is lost',
  async (state, fail, mend) => {
    const { uri, stop, engine } = await startMongodb(await freePort()) // the port stays the same
    undo.push(stop)
    const place = mongodbPlace(uri)
    const service = await start(place)
    const load = new Load(() => service.url(), state)
    const probe = async (path: string) => (await service.probe(path)).status
    const states = new Set<string>()
    const note = (path: string) => probe(path).then((status) => states.add(`${path} ${status}`))
    const ask = (path: string) => void note(path).catch(() => {}) // the test is over
    while ((await probe('/readyz')) !== 200) await sleep(10)
    const asking = setInterval(() => ['/livez', '/readyz'].forEach(ask), 50)
    undo.push(() => clearInterval(asking))

    for (let round = 0; round < 2; round += 1) {
      load.start(8)
      await load.more(201)
      await engine[fail]()
      const failed = load.count(500)
      await sleep(5_000)
      while (load.count(500) === failed) await sleep(10)
      await engine[mend]()
      await load.more(201)
      await load.stop()
      expect(load.slowest).toBeLessThan(4_000) // 8 s are a hang on any machine
      expect(load.contradictedBy(await listAt(service))).toEqual([])
    }
    expectOnly(load, 200, 201, 204, 404, 500)
    expect([...states].sort()).toEqual(['/livez 200', '/readyz 200'])
    expect(service.process.exitCode).toBeNull()
  },
)
