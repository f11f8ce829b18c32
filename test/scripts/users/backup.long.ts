// backup, as a program, and what its copies hold.
import { expect, jest, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { databaseIn, openStore } from '../../../src/store/open.ts'
import { Load } from '../../support/load.ts'
import { dist, runToEnd, started } from '../../support/program.ts'
import { testAsRoot, tmpfsPlace } from '../../support/root.ts'
import type { Place } from '../../support/stores.ts'
import { createAt, databaseOf, SECRET, sqlitePlace, usersAt } from '../../support/stores.ts'
import { useTransfers } from '../../support/transfers.ts'
import { newUser } from '../../support/users.ts'

const { folder, at, file, done } = useTransfers()
jest.setTimeout(55_000) // after a minute, a copy that is not read ends in any case

const backup = (place: Place, target: string) => done('backup', place, [target])

const longName = () => randomBytes(750).toString('base64') // little shorter when it is compressed

/** A place with a database of 1 MB, which is more than a pipe holds. */
async function filled(kind: () => Place = sqlitePlace): Promise<Place> {
  const place = at(kind)
  await createAt(place, ...Array.from({ length: 1_000 }, () => newUser({ name: longName() })))
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
    const said = /^copied \d+ MB with [\d,]+ users; users are kept in SQLite in .*users\.db\n$/
    const success = [0, expect.stringMatching(said)]
    expect(await end()).toEqual(success)
    return bytes
  }
  return { program, end, copy }
}

/** The users in a copy of the database, which must be whole. */
async function usersOf(copy: Buffer) {
  const place = at(sqlitePlace)
  writeFileSync(databaseIn(place.DATA_DIR), copy, { mode: 0o600 })
  const db = databaseOf(place)
  expect(db.prepare('PRAGMA integrity_check').get()).toMatchObject({ integrity_check: 'ok' })
  db.close()
  return usersAt(place)
}

const logOf = (place: Place) => statSync(`${databaseIn(place.DATA_DIR)}-wal`).size

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
  for (let i = 0; i < 100 && logOf(place) < 5_000_000; i += 1) await load.more(201) // checkpoints begin at 4 MB
  const copied = await usersOf(await copy())
  expect(copied.slice(0, users.length)).toEqual(users)
  expect(copied).toContainEqual(earlier)
  expect(copied).not.toContainEqual(later)

  await load.stop()
  expect(load.count(500)).toBe(0)
  expect(await usersOf(await (await start(place)).copy())).toEqual(await usersAt(place))
  await store.close()
})

test('a file gets all users; only its owner may read it; .gz compresses it', async () => {
  const place = await filled()
  const read = { 'copy.db': (bytes: Buffer) => bytes, 'copy.db.gz': gunzipSync }
  for (const [name, bytesOf] of Object.entries(read)) {
    const target = join(folder(), name)
    const success = { code: 0, stdout: '', stderr: expect.stringContaining(' with 1,000 users;') }
    expect(await backup(place, target)).toMatchObject(success)
    expect(statSync(target).mode & 0o777).toBe(0o600)
    expect(await usersOf(bytesOf(readFileSync(target)))).toEqual(await usersAt(place))
  }
  expect(readdirSync(folder())).toEqual(Object.keys(read))
})

test('no file is overwritten, and no link is followed', async () => {
  const place = await filled()
  const [mine, link] = [file('mine.db', 'mine'), join(folder(), 'link.db')]
  symlinkSync(join(folder(), 'target.db'), link)
  for (const target of [mine, link]) {
    const { code, stderr } = await backup(place, target)
    expect([code, stderr]).toEqual([1, `${target} exists: give another file\n`])
  }
  expect(readFileSync(mine, 'utf8')).toBe('mine')
  expect(readdirSync(folder())).toEqual(['link.db', 'mine.db'])
})

test('a reader that begins late gets the whole copy', async () => {
  const place = at(sqlitePlace)
  await createAt(place)
  const [db, copy] = [databaseOf(place), join(folder(), 'copy.db')]
  const bytes = () => readFileSync(databaseIn(place.DATA_DIR))
  for (let i = 0; bytes().length < 65_536 + 4_096; i += 1) {
    db.exec(`CREATE TABLE page${i} (x); PRAGMA wal_checkpoint`) // a pipe holds all pages but one
  }
  const command = 'node scripts/users/backup.js - | (sleep 1; cat >"$COPY")'
  const env = { ...process.env, MONGODB_URI: '', ...place.environment, COPY: copy }
  runToEnd('sh', ['-c', command], { cwd: dist, env })
  expect(readFileSync(copy).equals(bytes())).toBe(true)
  db.close()
})

test('it fails if the reader of standard output leaves', async () => {
  const { program, end } = await start(await filled())
  program.stdout.destroy()
  expect(await end()).toEqual([1, 'the reader of standard output closed it\n'])
})

testAsRoot('a file that has too little space is refused, and standard output works', async () => {
  const place = await filled()
  const full = at(() => tmpfsPlace('2m'))
  expect((await backup(place, databaseIn(full.DATA_DIR))).code).toBe(0)
  const files = readdirSync(full.DATA_DIR)
  for (const [name, message] of [
    ['copy.db', /copy\.db needs 2 MB, and 1 MB are free: use another folder, or -\n$/],
    ['copy.db.gz', /^ENOSPC: no space left on device, write\n$/],
  ] as const) {
    const { code, stderr } = await backup(place, join(full.DATA_DIR, name))
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)])
    expect(readdirSync(full.DATA_DIR)).toEqual(files)
  }
  expect(await usersOf(await (await start(full)).copy())).toEqual(await usersAt(place))
})

/** Lets the log of new writes grow by 1.4 MB for each of the `updates`, while the copy is not read. */
async function expectTooSlow(kind: () => Place, updates: number): Promise<void> {
  const place = await filled(kind)
  const { end } = await start(place)
  const db = databaseOf(place)
  db.exec('UPDATE users SET name = hex(randomblob(500));'.repeat(updates))
  expect(await end()).toEqual([1, expect.stringMatching(/^too slow: /)])
  expect(logOf(place)).toBeLessThan(5_000_000) // its space is free again
  db.close()
}

test('a copy that is read too slowly ends when the log of new writes has more than 200 MB', () =>
  expectTooSlow(sqlitePlace, 148))

testAsRoot('a copy that is read too slowly ends before the service has no space to write', () =>
  expectTooSlow(() => tmpfsPlace('40m'), 20),
)
