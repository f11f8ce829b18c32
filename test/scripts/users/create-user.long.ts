// create-user, as a program. (What is not UTF-8: programs.test.ts.)
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseIn } from '../../../src/store/open.ts'
import { UNSET } from '../../support/program.ts'
import { copyBuilt, read } from '../../support/readme.ts'
import { useScripts } from '../../support/scripts.ts'
import { mongodbPlace, SECRET, sqlitePlace, usersAt } from '../../support/stores.ts'

const { at, done } = useScripts()

test('create-user says where it makes a secret and stores a user, and what looks wrong', async () => {
  const place = at(sqlitePlace)
  const { code, stdout, stderr } = await done('create-user', place, ['--email', 'a b@x'])
  expect([code, stdout]).toEqual([0, expect.stringContaining('"email":"a b@x"')])
  const warning = 'a b@x does not look like an email; the user logs in with exactly this text\n'
  const [secret, database] = ['signing-secret', 'users.db'].map((file) =>
    join(place.DATA_DIR, file),
  )
  expect(stderr).toBe(`made a secret in ${secret}\nstored in SQLite in ${database}\n${warning}`)
})

test('create-user stores nothing if the secret is refused', async () => {
  const place = at(sqlitePlace)
  writeFileSync(join(place.DATA_DIR, 'signing-secret'), SECRET, { mode: 0o644 })
  const { code, stdout, stderr } = await done('create-user', place, ['--email', 'ada@x'])
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('other accounts can read or write it')
  expect(await usersAt(place)).toEqual([])
})

test('create-user obeys the contract as POST does, and stores nothing that it refuses', async () => {
  const copy = copyBuilt()
  const contract = read('openapi.yaml').replace(
    / {4}UserFields:[^]*?name:\n/,
    '$&          maxLength: 3\n',
  )
  writeFileSync(join(copy, 'openapi.yaml'), contract)
  const place = at(sqlitePlace)
  const create = (name: string) => {
    const args = ['dist/scripts/users/create-user.js', '--email', 'a@x', '--name', name]
    const env = { ...process.env, ...UNSET, ...place.environment }
    return spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8', env })
  }
  const stderr = 'field `name` must NOT have more than 3 characters\n'
  expect(create('Grace')).toMatchObject({ status: 1, stdout: '', stderr })
  expect(existsSync(databaseIn(place.DATA_DIR))).toBe(false)
  expect(create('Ada')).toMatchObject({ status: 0 })
})

const testMongodb = process.env['MONGODB_URI'] ? test : test.skip
testMongodb('create-user without the secret says how to get a token', async () => {
  const { environment, ...place } = at(mongodbPlace)
  const unset = { ...place, environment: { ...environment, SIGNING_SECRET: '' } }
  const { code, stdout, stderr } = await done('create-user', unset, ['--email', 'ada@x'])
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^stored in MongoDB at /)])
  expect(JSON.parse(stdout.split('\n')[0]!)).toEqual((await usersAt(unset))[0])
  expect(stdout).toContain('SIGNING_SECRET is not set')
  expect(stdout).toContain('POST /login')
})
