// restore, as a program: what it keeps, and what a kill leaves. (Its steps, and what is no backup: sqlite.test.ts.)
import { expect, jest, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { copySqlite } from '../../../scripts/users/sqlite.ts'
import { databaseIn, openStore } from '../../../src/store/open.ts'
import { run, started, type Program } from '../../support/program.ts'
import { useScripts } from '../../support/scripts.ts'
import { send } from '../../support/service.ts'
import {
  createAt,
  createIn,
  databaseOf,
  faultsIn,
  SECRET,
  sqlitePlace,
  type Place,
} from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

const { at, file, done } = useScripts()
jest.setTimeout(300_000)

const many = (count: number) => Array.from({ length: count }, () => newUser())
const restore = (place: Place, ...args: string[]) => done('restore', place, args)

/** What a killed service leaves: `count` users, and as many in the log. */
async function killed(count = 5): Promise<Place> {
  const [running, place] = [at(sqlitePlace), at(sqlitePlace)]
  await createAt(running, ...many(count))
  const store = await openStore(running)
  await createIn(store, many(count))
  fs.cpSync(running.DATA_DIR, place.DATA_DIR, { recursive: true })
  await store.close()
  return place
}

/** A backup of `count` users, at a place of its own. */
async function backup(count = 3) {
  const place = at(sqlitePlace)
  await createAt(place, ...many(count))
  const path = file('backup.db', '')
  await copySqlite(databaseIn(place.DATA_DIR), path)
  return { place, path, bytes: fs.readFileSync(path), content: contentOf(place) }
}

/** What identifies all users of a database. Of a copy: a database that this process has read stays open. */
function contentOf(place: Place): string {
  const copy = at(sqlitePlace)
  fs.cpSync(place.DATA_DIR, copy.DATA_DIR, { recursive: true })
  expect(faultsIn(copy)).toEqual([])
  const all = databaseOf(copy).prepare(
    'SELECT json_group_array(json_array(id, name, email)) AS text FROM users',
  )
  return digest((all.get() as { text: string }).text)
}

const digest = (content: string | Buffer) => createHash('md5').update(content).digest('hex')

/** The files of a place, with what identifies their content. */
const filesIn = ({ DATA_DIR }: Place) =>
  fs.readdirSync(DATA_DIR).map((name) => {
    const path = join(DATA_DIR, name)
    const content = fs.statSync(path).isFile() ? fs.readFileSync(path) : ''
    return [name.replace(/\d+/, 'N'), digest(content)]
  })

/** Expects that restore refuses `args` with one sentence, and leaves everything as it is. */
async function expectRefused(place: Place, args: string[], message: string) {
  const before = filesIn(place)
  const { code, stdout, stderr } = await restore(place, ...args)
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(message)])
  expect(stderr.split('\n')).toHaveLength(2)
  expect(filesIn(place)).toEqual(before)
}

test('the database is replaced, the former one is kept with all that was in its log, and both numbers are said', async () => {
  const { path, content } = await backup()
  const place = await killed()
  const former = contentOf(place)
  const said =
    /^restored 3 users to SQLite in .*users\.db; the former one \(10 users\) is now (.*former-\d+)\n$/
  const { code, stderr } = await restore(place, path)
  expect([code, stderr]).toEqual([0, expect.stringMatching(said)])
  expect(filesIn(place).map(([name]) => name)).toEqual(['users.db', 'users.db.former-N'])
  expect(fs.statSync(databaseIn(place.DATA_DIR)).mode & 0o777).toBe(0o600)
  expect(contentOf(place)).toBe(content)
  expect(await restore(place, said.exec(stderr)![1]!)).toMatchObject({ code: 0 })
  expect(contentOf(place)).toBe(former)
})

test.each<[string, (database: string) => string | void, string, string?]>([
  ['a file that is no backup', () => file('given.db', ''), '.*/given.db is not a whole backup: '],
  ['a file that is missing', () => '/nowhere.db', '/nowhere.db does not exist'],
  ['the database itself', (database) => database, '.* is the database itself'],
  ['a link at its place', (database) => fs.symlinkSync(moved(database), database), '.* regular'],
  ['a backup with MONGODB_URI', () => {}, 'the users are in MongoDB: use export-', 'mongodb://x'],
])('%s is refused, and nothing is changed', async (_, prepare, message, MONGODB_URI = '') => {
  const [place, { path }] = [await killed(), await backup()]
  const environment = { ...place.environment, MONGODB_URI }
  const given = prepare(databaseIn(place.DATA_DIR)) ?? path
  await expectRefused({ ...place, environment }, [given], message)
})

function moved(database: string): string {
  fs.renameSync(database, `${database}.moved`)
  return `${database}.moved`
}

test('a refused restore makes no folder', async () => {
  const place = at(sqlitePlace)
  const DATA_DIR = join(place.DATA_DIR, 'new/data')
  const inside = { ...place, environment: { DATA_DIR } }
  expect(await restore(inside, file('given.db', ''))).toMatchObject({ code: 2 })
  expect(filesIn(place)).toEqual([])
  expect(await restore(inside, (await backup()).path)).toMatchObject({ code: 0 })
  expect(fs.readdirSync(DATA_DIR)).toEqual(['users.db'])
})

test('while the service runs, nothing is changed; while a backup comes, no service and no other restore starts', async () => {
  const [place, { path, bytes, content }] = [await killed(), await backup()]
  const service = await started(place, { SIGNING_SECRET: SECRET, STOP_DELAY: '0s' })
  const port = Number(new URL(service.url()).port)
  const inUse = 'cannot replace .*users.db: another process has it open: stop the service first'
  await expectRefused(place, [path], inUse)
  expect((await send(port, 'POST /users', { json: {} })).status).toBe(201)
  await service.stop()

  const first = run('scripts/users/restore', place, {}, ['-'])
  await untilCopying(first, place)
  await expectRefused(place, [path], inUse)
  const second = run('src/main', place, { SIGNING_SECRET: SECRET })
  expect([await second.ended, second.output.stderr]).toEqual([1, expect.stringMatching('locked')])
  first.process.stdin!.end(bytes)
  expect([await first.ended, first.output.stderr]).toEqual([0, expect.stringContaining('11 users')])
  expect(contentOf(place)).toBe(content)
})

function overwrite(from: number, to: number) {
  return (path: string) => fs.writeFileSync(path, fs.readFileSync(path).fill('x', from, to))
}

test.each<[string, (database: string) => void, RegExp]>([
  ['without a valid header', overwrite(0, 100), /the former one .unreadable: file is not/],
  ['cut to nothing', (database) => fs.truncateSync(database), /the former one .an empty file. is/],
  ['that is missing', (database) => fs.rmSync(database), /there was none/],
])('a database %s is replaced, and what is left of it is kept', async (_, damage, message) => {
  const [place, { path, content }] = [await killed(), await backup()]
  damage(databaseIn(place.DATA_DIR))
  const left = filesIn(place).filter(([name]) => !name!.endsWith('-shm'))
  const { code, stderr } = await restore(place, path)
  expect([code, stderr]).toEqual([0, expect.stringMatching(message)])
  const kept = filesIn(place).filter(([name]) => !name!.endsWith('-shm'))
  expect(kept).toEqual([
    ['users.db', expect.anything()],
    ...left.map(([name, content]) => [name!.replace('users.db', 'users.db.former-N'), content]),
  ])
  expect(contentOf(place)).toBe(content)
})

/** Ends a program with kill -9 before the step KILL_AT of those that change names or wait for the disk. */
const KILL = `
  const fs = require('node:fs')
  let left = Number(process.env.KILL_AT)
  for (const name of ['linkSync', 'renameSync', 'rmSync', 'fsyncSync']) {
    const step = fs[name]
    fs[name] = (...args) => {
      if ((left -= 1) === 0) process.kill(process.pid, 'SIGKILL')
      return step(...args)
    }
  }`

test('a kill -9 at any moment leaves the former database or the copy, whole', async () => {
  const [before, { path, content: restored }] = [await killed(25_000), await backup(50_000)]
  const former = contentOf(before)
  const found = new Set<string>()
  /** Kills it so many milliseconds after it has begun to copy, or before a step. @returns how long it ran */
  async function killedAt(ms: number, step = 0) {
    const place = at(sqlitePlace)
    fs.cpSync(before.DATA_DIR, place.DATA_DIR, { recursive: true })
    const env = { NODE_OPTIONS: `--require=${file('kill.cjs', KILL)}`, KILL_AT: String(step) }
    const program = run('scripts/users/restore', place, env, [path])
    await untilCopying(program, place)
    const begun = performance.now()
    await Promise.race([sleep(ms, undefined, { ref: false }), program.ended])
    const duration = performance.now() - begun
    const code = await program.stop('SIGKILL')
    found.add(contentOf(place))
    expect([former, restored]).toEqual(expect.arrayContaining([...found]))
    return { duration, code }
  }
  const { duration } = await killedAt(60_000)
  for (let i = 0; i < 30; i += 1) await killedAt((duration * i) / 25)
  let step = 1
  while ((await killedAt(60_000, step)).code === 'SIGKILL') step += 1
  expect([step > 6, found.size]).toEqual([true, 2])
})

async function untilCopying({ process }: Program, { DATA_DIR }: Place): Promise<void> {
  const isCopying = () => fs.readdirSync(DATA_DIR).some((name) => name.endsWith('.part'))
  while ((process.exitCode ?? process.signalCode) === null && !isCopying()) await sleep(1)
}
