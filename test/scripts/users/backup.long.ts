// backup, as a program, and what its copies hold.
import { expect, jest, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { makeFile } from '../../../scripts/users/file.ts'
import { databaseIn, openStore } from '../../../src/store/open.ts'
import { Load } from '../../support/load.ts'
import { dist, run, started } from '../../support/program.ts'
import { testAsRoot, tmpfsPlace } from '../../support/root.ts'
import type { Place } from '../../support/stores.ts'
import {
  createAt,
  databaseOf,
  faultsIn,
  SECRET,
  sqlitePlace,
  usersAt,
} from '../../support/stores.ts'
import { useScripts } from '../../support/scripts.ts'
import { newUser } from '../../support/users.ts'

const { folder, at, file, done } = useScripts()
jest.setTimeout(55_000)

const backup = (place: Place, target: string) => done('backup', place, [target])

/** A place with a database of 1 MB, which is more than a pipe holds. */
async function filled(kind: () => Place = sqlitePlace): Promise<Place> {
  const place = at(kind)
  const name = 'x'.repeat(1_000)
  await createAt(place, ...Array.from({ length: 1_000 }, () => newUser({ name })))
  return place
}

/** Starts a backup to standard output, of which the first bytes have come; the rest is not read yet. */
async function start({ environment }: Place) {
  const env = { ...process.env, MONGODB_URI: '', ...environment }
  const program = spawn('node', ['scripts/users/backup.js', '-'], { cwd: dist, env })
  const [said, exited] = [text(program.stderr), once(program, 'exit')]
  await once(program.stdout, 'readable')
  const end = async () => [(await exited)[0], await said] as const
  /** Reads the rest. */
  async function copy(): Promise<Buffer> {
    const bytes = await buffer(program.stdout)
    const said = `^copied [\\d,]+ users, ${bytes.length} bytes; users are kept in SQLite in .*users\\.db\n$`
    expect(await end()).toEqual([0, expect.stringMatching(said)])
    return bytes
  }
  return { program, end, copy }
}

/** The users in a copy of the database, which must be whole. */
async function usersOf(copy: Buffer) {
  const place = at(sqlitePlace)
  writeFileSync(databaseIn(place.DATA_DIR), copy, { mode: 0o600 })
  expect(faultsIn(place)).toEqual([])
  return usersAt(place)
}

test('standard output gets the users of one moment, while the service writes', async () => {
  const place = await filled()
  const users = await usersAt(place)
  const service = await started(place, { SIGNING_SECRET: SECRET, STOP_DELAY: '0s' })
  const [store, load] = [await openStore(place), new Load(() => service.url(), 'meanwhile')]
  load.start(4)
  await load.more(201)
  const earlier = await store.create(newUser())
  const { copy } = await start(place)
  const later = await store.create(newUser())
  await load.more(201)
  const copied = await usersOf(await copy())
  expect(copied.slice(0, users.length)).toEqual(users)
  expect(copied).toContainEqual(earlier)
  expect(copied).not.toContainEqual(later)

  await load.stop()
  expect(load.count(500)).toBe(0)
  expect(await usersOf(await (await start(place)).copy())).toEqual(await usersAt(place))
  expect(readdirSync(place.DATA_DIR).filter((name) => name.endsWith('.part'))).toEqual([])
  await store.close()
})

test('a file gets all users, and nothing of deleted ones; only its owner may read it', async () => {
  const place = await filled()
  const db = databaseOf(place)
  db.exec('PRAGMA secure_delete = OFF; CREATE TABLE x (y)')
  db.exec("INSERT INTO x VALUES ('gone'); DROP TABLE x")
  const target = join(folder(), 'copy.db')
  const stderr = expect.stringMatching(/^copied 1,000 users, \d+ bytes;/)
  expect(await backup(place, target)).toEqual({ code: 0, stdout: '', stderr })
  db.close()
  expect(readFileSync(target, 'latin1')).not.toContain('gone')
  expect(statSync(target).mode & 0o777).toBe(0o600)
  expect(await usersOf(readFileSync(target))).toEqual(await usersAt(place))
  expect(readdirSync(folder())).toEqual(['copy.db'])
})

test('no file is overwritten, not even one that another program makes meanwhile, and no link is followed', async () => {
  const place = await filled()
  const [mine, link] = [file('mine.db', 'mine'), join(folder(), 'link.db')]
  symlinkSync(join(folder(), 'target.db'), link)
  for (const target of [mine, link]) {
    const { code, stderr } = await backup(place, target)
    expect([code, stderr]).toEqual([1, `${target} exists: give another file\n`])
  }
  const other = join(folder(), 'other.db')
  await expect(makeFile(other, async () => file('other.db', 'mine'))).rejects.toThrow('EEXIST')
  expect(await backup(place, 'copy.db.gz')).toMatchObject({ code: 2 })
  for (const kept of [mine, other]) expect(readFileSync(kept, 'utf8')).toBe('mine')
  expect(readdirSync(folder())).toEqual(['link.db', 'mine.db', 'other.db'])
})

/** Presses Ctrl-C just before SQLite copies, which no signal interrupts. */
const CTRL_C = `
  const fs = require('node:fs')
  const { statfsSync } = fs
  fs.statfsSync = (path) => (process.kill(process.pid, 'SIGINT'), statfsSync(path))`

test.each(['-', 'copy.db'])(
  'Ctrl-C during a backup to %s says so, exits with 130, and leaves no file',
  async (target) => {
    const env = { NODE_OPTIONS: `--require=${file('ctrl-c.cjs', CTRL_C)}` }
    const args = [target === '-' ? target : join(folder(), target)]
    const { ended, output } = run('scripts/users/backup', await filled(), env, args)
    expect([await ended, output.stderr]).toEqual([130, 'stopped before it was done\n'])
    expect(readdirSync(folder())).toEqual(['ctrl-c.cjs'])
  },
)

test('it fails if the reader of standard output leaves', async () => {
  const { program, end } = await start(await filled())
  program.stdout.destroy()
  expect(await end()).toEqual([1, 'the reader of standard output closed it\n'])
})

testAsRoot('a copy that could take the last space of services is refused', async () => {
  const place = await filled(() => tmpfsPlace('5m'))
  const db = databaseOf(place)
  db.exec('UPDATE users SET name = upper(name)') // its log is now as large as the database
  const before = readdirSync(place.DATA_DIR)
  writeFileSync(join(place.DATA_DIR, 'others'), Buffer.alloc(600_000))
  for (const target of ['-', join(place.DATA_DIR, 'copy.db')]) {
    const { code, stderr } = await backup(place, target)
    const said = /^the copy may need \d+ bytes in \S+, and \d+ are free\n$/
    expect([code, stderr]).toEqual([1, expect.stringMatching(said)])
  }
  db.close()
  expect(readdirSync(place.DATA_DIR)).toEqual([...before, 'others'].toSorted())
})
