// What SECURITY.md says: each promise and each limit has a test, and each command does what the page says.
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

/** What tests say that they hold, each in a comment such as `// SECURITY.md: Body`. */
const held = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.(test|long|suite)\.ts$/.test(file) && !file.includes('node_modules'))
  .flatMap((file) => [...read(`test/${file}`).matchAll(/^ *\/\/ SECURITY\.md: (.+)$/gm)])

test('each promise and each limit is named at its tests', () => {
  const section = (title: string) => page.split(`\n## ${title}\n`)[1]!.split('\n## ')[0]!
  const promised = section('What the service promises') + section('Limits')
  const statements = [...promised.matchAll(/^(?:- )?\*\*(.+?)\*\*/gm)]
  const [named, stated] = [held, statements].map(
    (found) => new Set(found.map(([, words]) => words)),
  )
  expect(named).toEqual(stated)
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

  await service.stop()
  expect(await usersAt(place)).toEqual([ada])
  writeFileSync(join(folder, 'service.log'), service.output.stdout)
  const [changes, logIns, most, ...others] = commandsWith('service.log')
  const linesOf = (command: string, id: string) =>
    bash(command.replaceAll(ID, id), folder).trim().split('\n')
  expect(linesOf(changes!, grace!.id).map((line) => JSON.parse(line))).toMatchObject([
    { method: 'PUT', status: 204, [CALLER]: ada!.id },
    { method: 'DELETE', status: 204, [CALLER]: ada!.id },
  ])
  const logIn = { method: 'POST', status: 200, remoteAddress: '127.0.0.1' }
  expect(linesOf(logIns!, ada!.id).map((line) => JSON.parse(line))).toMatchObject([logIn])
  const listed = /"listUsers","status":200,"bytes":(\d+)/.exec(service.output.stdout)![1]!
  const logInBytes = /"login","status":200,"bytes":(\d+)/.exec(service.output.stdout)![1]!
  const bytes = Number(listed) + Number(logInBytes)
  expect([linesOf(most!, ''), others]).toEqual([[`${bytes} 127.0.0.1 ${ada!.id}`], []])
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
