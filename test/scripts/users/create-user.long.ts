// create-user, as a program. (What is not UTF-8: programs.test.ts.)
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { contract } from '../../../src/contract.ts'
import { databaseIn } from '../../../src/store/open.ts'
import { run, serve, UNSET } from '../../support/program.ts'
import { copyBuilt, read, version } from '../../support/readme.ts'
import { useScripts } from '../../support/scripts.ts'
import { send } from '../../support/service.ts'
import {
  describeStores,
  mongodbPlace,
  SECRET,
  sqlitePlace,
  usersAt,
  type Place,
} from '../../support/stores.ts'

const { at, done } = useScripts()

const USAGE = /^.*\nusage: create-user \[--name NAME\] --email EMAIL\nsee --help\n$/
test.each([
  ['--version', 0, RegExp(`^${contract.contents().document.info.version}\n$`), /^$/],
  ['--name Ada', 2, /^$/, USAGE],
  ['--email=', 2, /^$/, USAGE],
])('create-user %s exits with %d', async (args, code, stdout, stderr) => {
  const ended = await done('create-user', at(sqlitePlace), args.split(' '))
  const [out, err] = [stdout, stderr].map((pattern) => expect.stringMatching(pattern))
  expect(ended).toEqual({ code, stdout: out, stderr: err })
})

test.each([
  ['a@x', ''],
  ['a b@x', 'a b@x does not look like an email; the user logs in with exactly this text\n'],
])('create-user stores %s, and says where and what looks wrong', async (email, warning) => {
  const place = at(sqlitePlace)
  const { code, stdout, stderr } = await done('create-user', place, ['--email', email])
  expect([code, stdout]).toEqual([0, expect.stringContaining(`"email":"${email}"`)])
  expect(stderr).toBe(`stored in SQLite in ${join(place.DATA_DIR, 'users.db')}\n${warning}`)
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

async function createUser(place: Place, args: string[], env = {}) {
  const program = run('scripts/users/create-user', place, env, args)
  return { code: await program.ended, ...program.output }
}
const ADA = ['--name', 'Ada', '--email', 'ada@example.com']

const listAt = async (url: string, token: string) =>
  send(Number(new URL(url).port), 'GET /users', { authorization: `Bearer ${token}` })

describeStores((kind) => {
  test('the first user is created, logged in, and still there after a restart', async () => {
    const place = at(kind)
    const service = serve(place)
    const url = await service.listening()
    while (service.output.stdout.split('\n').length < 7) await sleep(5)
    const [first, listening, page, kept, , ops] = service.output.stdout.split('\n')
    expect(first).toContain(`users-service ${version} on Node ${process.version}`)
    expect(listening).toContain(`listening on ${url}`)
    expect(page).toContain(`${url}/docs`)
    expect(kept).toMatch(/users are kept in (SQLite in |MongoDB at )/)
    expect(ops).toMatch(/\/readyz and \/metrics are on http:\/\/127.0.0.1:\d+/)

    const { stdout } = await createUser(place, ADA)
    const [user = '', , header = ''] = stdout.split('\n')
    expect(JSON.parse(user)).toMatchObject({ name: 'Ada', email: 'ada@example.com' })
    const token = header.replace('Authorization: Bearer ', '')
    expect((await listAt(url, token)).json).toEqual([JSON.parse(user)])

    expect(await service.stop()).toBe(0)
    const taken = 'a user with email `ada@example.com` already exists\n'
    expect(await createUser(place, ADA)).toEqual({ code: 1, stdout: '', stderr: taken })
    const again = serve(place)
    expect((await listAt(await again.listening(), token)).json).toEqual([JSON.parse(user)])
    expect(again.output.stdout).not.toContain('create-user')
  })
})

const testMongodb = process.env['MONGODB_URI'] ? test : test.skip
testMongodb('create-user without the secret says how to get a token', async () => {
  const place = at(mongodbPlace)
  const { code, stdout, stderr } = await createUser(place, ADA, { SIGNING_SECRET: '' })
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^stored in MongoDB at /)])
  expect(JSON.parse(stdout.split('\n')[0]!)).toEqual((await usersAt(place))[0])
  expect(stdout).toContain('SIGNING_SECRET is not set')
  expect(stdout).toContain('POST /login')
})
