// SECURITY.md: each promise and each limit has a test, and each command does what the page says.
import { expect, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CALLER } from '../src/auth/guard.ts'
import { runToEnd, started, useUndo } from './support/program.ts'
import { newFolder, read, root } from './support/readme.ts'
import { createAt, databaseOf, SECRET, sqlitePlace, usePlaces, usersAt } from './support/stores.ts'
import { newUser } from './support/users.ts'

useUndo()
const at = usePlaces()

const page = read('SECURITY.md')

/** What SECURITY.md says in bold or in the first column of a table, and the tests that hold it. */
const HELD_BY: Record<string, [file: string, name: string][]> = {
  'Only a request with a valid token reaches a user.': [
    ['auth/guard.test.ts', 'without a valid token never reach a users operation'],
    ['auth/tokens.test.ts', 'a token with %s is invalid'],
    ['auth/tokens.test.ts', 'a token is refused as expired as soon as it expires'],
    ['auth/tokens.test.ts', 'a token is refused as premature'],
  ],
  'An acknowledged write is durable.': [
    ['store/sqlite/store.test.ts', 'a write waits for the disk: synchronous is FULL'],
    ['store/mongo/store.test.ts', 'confirms a write when a majority has it in its journals'],
    ['service.faults.long.ts', 'loses nothing that was acknowledged'],
  ],
  'A deleted user is overwritten,': [
    ['store/sqlite/erasure.test.ts', 'deleted, former and refused text is overwritten'],
    ['store/sqlite/erasure.test.ts', 'the log of a service that runs keeps nothing for longer'],
  ],
  'No input makes the service fail.': [
    ['app.model.test.ts', 'requests one after another get the responses of the model'],
    ['app.fuzz.suite.ts', 'no request gets a response that the contract does not document'],
  ],
  'The service recovers by itself': [
    ['service.faults.long.ts', 'the next start needs no help'],
    ['service.faults.long.ts', 'writes get 500 while reads continue, and succeed again afterwards'],
    [
      'store/mongo/unreachable.long.ts',
      'within seconds, for the reason of the outage, and is found again',
    ],
  ],
  'The service reveals nothing.': [
    ['telemetry/tracing.long.ts', 'no email, name or token leaves through traces or the log'],
    ['telemetry/request-log.test.ts', 'of users, only ids'],
  ],
  'A secret that others know is refused:': [
    ['auth/signing-secret.test.ts', 'the file is refused, and named, when %s'],
    ['auth/signing-secret.test.ts', 'the file is refused when it belongs to another account'],
  ],
  Body: [['http/hostile.test.ts', 'a body may have a thousand chunks; with more it gets 413']],
  Connections: [
    ['http/connections.test.ts', 'evict the one that has been idle longest'],
    [
      'http/connections.test.ts',
      'wait while all others are served; more than may wait are refused',
    ],
  ],
  'Waiting requests of one connection': [
    ['http/hostile.test.ts', 'close the connection when more than ten wait'],
  ],
  'Bodies over 4 KB': [['http/hostile.test.ts', 'are parsed and stored 16 at a time']],
  'Conditional writes (MongoDB)': [['store/mongo/unreachable.long.ts', 'confirms no write fails']],
  'A page of a list': [['store/user-store.test.ts', 'has pages of 64 KiB at most']],
  'Request line and headers': [['http/hostile.test.ts', 'are all read, up to 100; more get 431']],
  'Time for headers and body': [['http/hostile.test.ts', 'a body that does not end gets 408']],
  'A silent connection': [
    ['http/hostile.test.ts', 'a client that stops reading is disconnected by a reset'],
  ],
  'Connections to the port for operators': [
    ['ops/server.test.ts', 'the port for operators has room for 100 connections'],
  ],
  'A store that does not respond': [
    ['store/mongo/unreachable.long.ts', 'fails hundreds of calls and every opening within seconds'],
  ],
  'Log lines that cannot be written': [
    ['telemetry/log.long.ts', 'except those that are counted as dropped'],
  ],
  Memory: [['http/memory.long.ts', 'a process of 256 MiB']],
}

test('each promise and each limit names its tests', () => {
  const section = (title: string) => page.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!
  const promised = section('What the service promises') + section('Limits')
  const [, ...rows] = promised.matchAll(/^\| (\w.*?) +\|/gm)
  const statements = [...promised.matchAll(/^(?:- )?\*\*(.+?)\*\*/gm), ...rows]
  expect(statements.map(([, words]) => words).sort()).toEqual(Object.keys(HELD_BY).sort())
})

const NAMED = Object.entries(HELD_BY).flatMap(([words, tests]) =>
  tests.map((one) => [words, ...one] as const),
)
test.each(NAMED)('%s: %s has the test "%s"', (_, file, name) => {
  expect(read(`test/${file}`)).toContain(name)
})

const commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code]) => code!)
const commandsWith = (text: string) => commands.filter((code) => code.includes(text))

const { PATH } = process.env
const bash = (script: string, cwd: string, DATA_DIR = '') =>
  runToEnd('bash', ['-euo', 'pipefail', '-c', script], { cwd, env: { PATH, DATA_DIR } })

test('support people find a user, correct the name, erase the user, and see who did it', async () => {
  const place = at(sqlitePlace)
  const [ada, grace] = await createAt(
    place,
    newUser({ name: 'Ada', email: 'ada@example.com' }),
    newUser({ name: 'Grace', email: 'g@example.com' }),
  )
  const service = await started(place, { SIGNING_SECRET: SECRET })
  const folder = newFolder()
  const support = commandsWith('curl').join('').replaceAll(ID, grace!.id)
  const printed = bash(support.replaceAll('http://localhost:3000', service.url()), folder)
  const [found, ...statuses] = printed.split('\n')
  expect([JSON.parse(found!), ...statuses]).toEqual([grace, '204', '204', ''])

  service.process.kill('SIGTERM')
  await service.ended
  expect(await usersAt(place)).toEqual([ada])
  writeFileSync(join(folder, 'service.log'), service.output.stdout)
  const [who] = commandsWith('service.log')
  const lines = bash(who!.replaceAll(ID, grace!.id), folder).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { method: 'PUT', status: 204, [CALLER]: ada!.id },
    { method: 'DELETE', status: 204, [CALLER]: ada!.id },
  ])
})

const ID = '665f1c2e8b3f4a0012d4c001'

test('the command of SECURITY.md leaves nothing of deleted users in any file, while the service runs', async () => {
  const place = at(sqlitePlace)
  const [kept, ...gone] = await createAt(
    place,
    ...Array.from({ length: 1_000 }, () => newUser({ name: randomUUID() })),
  )
  const service = await started(place, { SIGNING_SECRET: SECRET })
  const deleteAsOther = databaseOf(place)
  deleteAsOther.exec(`PRAGMA secure_delete = OFF; DELETE FROM users WHERE id <> '${kept!.id}'`)
  deleteAsOther.close()
  const names = gone.map(({ name }) => name)
  const files = () => readdirSync(place.DATA_DIR).map((name) => join(place.DATA_DIR, name))
  const left = (names: string[]) => {
    const bytes = Buffer.concat(files().map((file) => readFileSync(file)))
    return names.filter((name) => bytes.includes(name))
  }
  expect(left(names)).toEqual(names)

  const [command, ...more] = commandsWith('VACUUM')
  expect([bash(command!, root, place.DATA_DIR), more]).toEqual(['erased\n', []])
  expect(left([kept!.name, ...names])).toEqual([kept!.name])
  expect((await service.probe('/readyz')).status).toBe(200)

  expect(() => bash(command!, root, newFolder())).toThrow('unable to open')
  const reader = databaseOf(place) // the log cannot be emptied
  reader.exec('BEGIN; SELECT * FROM users')
  const impatient = command!.replace('10000', '100')
  expect(() => bash(impatient, root, place.DATA_DIR)).toThrow('Command failed')
  reader.close()
})
