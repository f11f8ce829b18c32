// The service while what it stands on fails: killed, stopped, without its database, without room on the
// disk. What was acknowledged stays. CHAOS=1 makes it many rounds, and holds the bounds in time.
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { User } from '../src/store/user-store.ts'
import { startMongodb } from './mongodb/container.mjs'
import { times } from './support/chaos.ts'
import { Load } from './support/load.ts'
import { killPrograms, runToEnd, serve, type Program } from './support/program.ts'
import { dial, parseAnswers, send, tokens } from './support/service.ts'
import { SECRET, sqlitePlace, usersAt, type Place } from './support/stores.ts'

const tell = (line: string) => process.stderr.write(`test/service-faults.test.ts: ${line}\n`)

/** What is to be done at the end of a test, the last first. */
const undo: (() => unknown)[] = []
afterEach(async () => {
  await killPrograms()
  while (undo.length > 0) await undo.pop()!()
})

function at(place: Place): Place {
  undo.push(() => place.remove())
  return place
}

async function start(place: Place): Promise<Program> {
  const service = serve(place, { SIGNING_SECRET: SECRET, STOP_DELAY: '0s' })
  await service.listening()
  return service
}

async function kill(service: Program): Promise<void> {
  service.process.kill('SIGKILL')
  await service.ended
}

async function listAt(service: Program): Promise<User[]> {
  const port = Number(new URL(service.url()).port)
  return (await send(port, 'GET /users')).json
}

/** What SQLite finds in the database, which may be in use. */
function integrity(place: Place): unknown {
  const db = new DatabaseSync(join(place.dataDir, 'users.db'), { readOnly: true })
  const found = db.prepare('PRAGMA integrity_check').all()
  db.close()
  return found
}
const SOUND = [{ integrity_check: 'ok' }]

const anyTime = (most: number) => sleep(Math.random() * most)

describe('kill -9 under a write load', () => {
  const rounds = times(6, 100)

  test(`loses nothing that was acknowledged, and the next start needs no help: ${rounds} rounds`, async () => {
    const place = at(sqlitePlace())
    let service = await start(place)
    const load = new Load(() => service.url(), 'killed')
    for (let round = 0; round < rounds; round += 1) {
      load.start(8)
      await anyTime(400)
      await kill(service)
      await load.stop()
      const halfStarted = serve(place, { SIGNING_SECRET: SECRET })
      await anyTime(400)
      await kill(halfStarted)
      service = await start(place)
      expect(load.broken(await listAt(service))).toEqual([])
      expect(integrity(place)).toEqual(SOUND)
    }
    expect(load.count(500)).toBe(0)
    expect(load.count(201)).toBeGreaterThan(rounds)
    tell(`${rounds} × kill -9: ${load.count(201)} users acknowledged, none lost`)
  })

  test(`is nothing to another service on the same data: ${rounds} rounds`, async () => {
    const place = at(sqlitePlace())
    let service = await start(place)
    const other = await start(place)
    const load = new Load(() => service.url(), 'killed')
    const others = new Load(() => other.url(), 'other')
    others.start(4)
    for (let round = 0; round < rounds; round += 1) {
      load.start(4)
      await anyTime(400)
      await kill(service)
      await load.stop()
      service = await start(place)
    }
    await others.stop()
    expect([...others.outcomes.keys()].sort()).toEqual([200, 201, 204, 404])
    const users = await listAt(other)
    const of = (name: string) => users.filter(({ email }) => email.startsWith(name))
    expect([...load.broken(of('killed')), ...others.broken(of('other'))]).toEqual([])
    expect(integrity(place)).toEqual(SOUND)
  })
})

describe('SIGTERM under load', () => {
  const rounds = times(3, 30)

  test(`cuts no answer short, and loses nothing that was acknowledged: ${rounds} rounds`, async () => {
    const place = at(sqlitePlace())
    let service = await start(place)
    const load = new Load(() => service.url(), 'stopped')
    for (let round = 0; round < rounds; round += 1) {
      load.start(8, 2)
      await sleep(100)
      await anyTime(400)
      service.process.kill('SIGTERM')
      expect(await service.ended).toBe(0)
      await load.stop()
      service = await start(place)
      expect(load.broken(await listAt(service))).toEqual([])
    }
    expect([load.count('cut'), load.count(500)]).toEqual([0, 0])
    expect(load.count(201)).toBeGreaterThan(rounds)
  })
})

/** `mount` and the like, which not everybody may. */
const SUDO = process.getuid?.() === 0 ? [] : ['sudo', '-n']
const asRoot = (...command: string[]) => {
  const [program, ...args] = [...SUDO, ...command]
  return runToEnd(program!, args)
}
const mayMount = spawnSync('unshare', ['--mount', 'true']).status === 0 || SUDO.length > 0
const testAsRoot = mayMount && process.platform === 'linux' ? test : test.skip

test('SIGTERM stores nothing that it does not answer, of requests that are pipelined', async () => {
  const place = at(sqlitePlace())
  let stored = 0
  for (let round = 0; round < times(4, 40); round += 1) {
    const service = await start(place)
    const { socket, text } = dial(Number(new URL(service.url()).port))
    const post = `POST /users HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.issue('x')}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`
    socket.write(post.repeat(200))
    await once(socket, 'data')
    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    if (!socket.closed) await once(socket, 'close')
    stored += parseAnswers(text()).filter(({ status }) => status === 201).length
    expect(await usersAt(place)).toHaveLength(stored)
  }
})

describe('without room or permission to write', () => {
  /** @param cause what the log must say @param fail begins it, @param mend ends it */
  async function expectWritesToPause(
    place: Place,
    cause: string,
    fail: () => void,
    mend: () => void,
  ) {
    let service = await start(place)
    const load = new Load(() => service.url(), 'paused')
    const more = async (outcome: number) => {
      const before = load.count(outcome)
      while (load.count(outcome) < before + 20) await sleep(10)
    }
    load.start(4)
    await more(201)
    fail()
    await more(500)
    expect((await listAt(service)).length).toBeGreaterThan(0)
    mend()
    await more(201)
    await load.stop()
    expect([...load.outcomes.keys()].sort()).toEqual([200, 201, 204, 404, 500])
    expect(service.output.stdout).toMatch(new RegExp(`"level":50.*"message":"${cause}"`))
    await kill(service)
    service = await start(place)
    expect(load.broken(await listAt(service))).toEqual([])
    expect(integrity(place)).toEqual(SOUND)
  }

  testAsRoot(
    'a full disk is a 500 to writes, reads go on, and writes resume when there is room',
    async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'users-service-'))
      const owner = `uid=${process.getuid!()},mode=700`
      asRoot('mount', '-t', 'tmpfs', '-o', `size=8m,${owner}`, 'users-service', dataDir)
      undo.push(() => rmSync(dataDir, { recursive: true }))
      undo.push(() => asRoot('umount', '--lazy', dataDir))
      const filler = join(dataDir, 'filler')
      const fill = () => {
        for (let size = 8 * 1024 * 1024; size > 0; size = Math.floor(size / 2)) {
          try {
            for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' })
          } catch {} // no room for as much: less of it
        }
      }
      const place = { ...sqlitePlace(), dataDir, environment: { DATA_DIR: dataDir } }
      await expectWritesToPause(place, 'database or disk is full', fill, () => rmSync(filler))
    },
  )

  testAsRoot(
    'files that cannot be written are a 500 to writes, reads go on, and writes resume when they can',
    async () => {
      const place = at(sqlitePlace())
      const files = () => ['users.db', 'users.db-wal'].map((name) => join(place.dataDir, name))
      const mend = () => asRoot('chattr', '-i', ...files())
      undo.push(mend)
      await expectWritesToPause(
        place,
        'disk I/O error',
        () => asRoot('chattr', '+i', ...files()),
        mend,
      )
    },
  )
})

/** A MongoDB of its own, which may be killed. */
async function mongodbThatFails() {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // the same when it is started again
  await once(server.close(), 'close')
  const { uri, stop, engine } = await startMongodb(port)
  undo.push(stop)
  const place: Place = {
    mongodbUri: uri,
    dataDir: '/nowhere',
    environment: { MONGODB_URI: uri },
    remove: async () => {},
  }
  return { place, container: engine }
}

const describeContainer = process.env['MONGODB_IN_CONTAINER'] ? describe : describe.skip

describeContainer('MongoDB under load', () => {
  test.each([
    ['killed', 'kill', 'start'],
    ['paused', 'pause', 'unpause'],
  ] as const)(
    '%s and brought back is a 500 in time, not ready meanwhile, and loses nothing that was acknowledged',
    async (state, fail, mend) => {
      const { place, container } = await mongodbThatFails()
      const service = await start(place)
      const load = new Load(() => service.url(), state)
      const probe = async (path: string) => (await fetch(service.ops() + path)).status
      /** Resolves to how many milliseconds it took. */
      const until = async (readyz: 200 | 503) => {
        const began = performance.now()
        while ((await probe('/readyz')) !== readyz) await sleep(10)
        return Math.round(performance.now() - began)
      }
      const alive = new Set<number>()
      const look = () => probe('/livez').then(alive.add.bind(alive), () => {}) // or it was killed, after all
      const looking = setInterval(() => void look(), 50)
      undo.push(() => clearInterval(looking))

      for (let round = 0; round < times(1, 10); round += 1) {
        await until(200)
        load.start(8)
        await sleep(500)
        await container[fail]()
        const failed = load.count(500)
        const down = await until(503)
        await sleep(times(0, 5_000))
        while (load.count(500) === failed) await sleep(10)
        await container[mend]()
        const up = await until(200)
        const before = load.count(201)
        while (load.count(201) < before + 20) await sleep(10)
        await load.stop()
        const slowest = Math.round(load.slowest)
        tell(
          `MongoDB ${state}: not ready after ${down} ms, ready ${up} ms after its return, slowest answer ${slowest} ms`,
        )
        expect(down).toBeLessThan(times(Infinity, 2_000))
        expect(up).toBeLessThan(times(Infinity, 5_000))
        expect(slowest).toBeLessThan(times(8_000, 2_500)) // 8 s are a hang, on any machine
        expect(load.broken(await listAt(service))).toEqual([])
      }
      expect([...load.outcomes.keys()].sort()).toEqual([200, 201, 204, 404, 500])
      expect([...alive]).toEqual([200])
      expect(service.process.exitCode).toBeNull()
    },
  )
})
