// Runs the commands of SECURITY.md.
import { expect, test } from '@jest/globals'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseIn } from '../src/store/open.ts'
import { runToEnd, started, useUndo } from './support/program.ts'
import { newFolder, read, root } from './support/readme.ts'
import { createAt, databaseOf, SECRET, sqlitePlace, usePlaces, usersAt } from './support/stores.ts'
import { newUser } from './support/users.ts'

useUndo()
const at = usePlaces()

const commands = [...read('SECURITY.md').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, code]) => code!)
const commandsWith = (text: string) => commands.filter((code) => code.includes(text))

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

test('with VACUUM nothing is left in a large database, while the service runs', async () => {
  const place = at(sqlitePlace)
  const user = newUser({ name: 'erased for good' })
  await createAt(place, user)
  const db = databaseOf(place)
  db.exec('CREATE TABLE large AS SELECT randomblob(25e6)') // too large to be rewritten at a stop
  db.exec('PRAGMA secure_delete = OFF; DELETE FROM users') // as version 2.0.0
  db.close()
  const isLeft = () =>
    ['', '-wal'].some((suffix) =>
      readFileSync(`${databaseIn(place.DATA_DIR)}${suffix}`).includes(user.name),
    )
  await started(place, { SIGNING_SECRET: SECRET })
  expect(isLeft()).toBe(true)

  const [local, container] = commandsWith('VACUUM')
  const inContainer = container!.replace(/^docker exec users /, '')
  expect(inContainer.replaceAll('/data', 'data').replace(/\\\n +/, '')).toBe(
    local!.replace('SQL', 'env SQL'),
  )
  bash(local!.replaceAll(/\bdata\b/g, place.DATA_DIR), root)
  expect(isLeft()).toBe(false)
  expect(() => bash(local!.replaceAll(/\bdata\b/g, newFolder()), root)).toThrow('unable to open')
})
