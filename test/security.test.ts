// Runs the commands of SECURITY.md.
import { expect, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runToEnd, started, useUndo } from './support/program.ts'
import { newFolder, read, root } from './support/readme.ts'
import { createAt, databaseOf, SECRET, sqlitePlace, usePlaces, usersAt } from './support/stores.ts'
import { newUser } from './support/users.ts'

useUndo()
const at = usePlaces()

const commands = [...read('SECURITY.md').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code]) => code!)
const commandsWith = (text: string) => commands.filter((code) => code.includes(text))

const { PATH } = process.env
const bash = (script: string, cwd: string) =>
  runToEnd('bash', ['-euo', 'pipefail', '-c', script], { cwd })

test('support people find a user, correct the name, erase the user, and see who did it', async () => {
  const place = at(sqlitePlace)
  const [ada, grace] = await createAt(
    place,
    newUser({ name: 'Ada', email: 'ada@example.com' }),
    newUser({ name: 'Grace', email: 'grace@example.com' }),
  )
  const service = await started(place, { SIGNING_SECRET: SECRET })
  const folder = newFolder()
  const support = commandsWith('curl').join('').replaceAll(ID, grace!.id)
  const printed = bash(support.replaceAll('http://localhost:3000', service.url()), folder).split(
    '\n',
  )
  expect([JSON.parse(printed[0]!), ...printed.slice(1)]).toEqual([[grace], '204', '204', ''])

  service.process.kill('SIGTERM')
  await service.ended
  expect(await usersAt(place)).toEqual([ada])
  writeFileSync(join(folder, 'service.log'), service.output.stdout)
  const [who] = commandsWith('service.log')
  const lines = bash(who!.replaceAll(ID, grace!.id), folder).trim().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { method: 'PUT', status: 204, user: ada!.id },
    { method: 'DELETE', status: 204, user: ada!.id },
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
  const erase = (DATA_DIR: string, code = command!) =>
    runToEnd('bash', ['-euo', 'pipefail', '-c', code], { cwd: root, env: { PATH, DATA_DIR } })
  expect([erase(place.DATA_DIR), more]).toEqual(['erased\n', []])
  expect(left([kept!.name, ...names])).toEqual([kept!.name])
  expect((await service.probe('/readyz')).status).toBe(200)

  expect(() => erase(newFolder())).toThrow('unable to open')
  const reader = databaseOf(place) // the log cannot be emptied
  reader.exec('BEGIN; SELECT * FROM users')
  expect(() => erase(place.DATA_DIR, command!.replace('10000', '100'))).toThrow('Command failed')
  reader.close()
})
