// Exit codes that must not say that all is well. (The rest of the programs: *.long.ts.)
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { databaseIn } from '../../../src/store/open.ts'
import { dist, UNSET } from '../../support/program.ts'
import { sqlitePlace } from '../../support/stores.ts'
import { useScripts } from '../../support/scripts.ts'

const { at, file, done } = useScripts()

test.each([
  `--email a@x --name "$(printf 'Jos\\351')"`,
  `--name Ada --email "$(printf '\\351@x')"`,
])('create-user %s, which is not UTF-8, is refused, instead of storing another user', (args) => {
  const place = at(sqlitePlace)
  const command = `node scripts/users/create-user.js ${args}`
  const env = { ...process.env, ...UNSET, ...place.environment }
  const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: dist, encoding: 'utf8', env })
  const said = expect.stringMatching(/^the name or the email is not UTF-8/)
  expect([status, stderr]).toEqual([2, said])
  expect(existsSync(databaseIn(place.DATA_DIR))).toBe(false)
})

test('an import in which a user differs from the one that is stored exits with 1', async () => {
  const people = file('people.csv', 'name,email\nAda,a@x\nEve,a@x\n')
  const { code, stdout } = await done('import-users', at(sqlitePlace), [people])
  expect([code, stdout]).toEqual([1, expect.stringContaining('created 1,')])
  expect(stdout).toContain('duplicate 1, refused 0\n')
})
