// What all programs share, and the small programs.
import { describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { dist, run } from '../../support/program.ts'
import { createAt, SECRET, sqlitePlace } from '../../support/stores.ts'
import { programs, useScripts } from '../../support/scripts.ts'
import { version } from '../../support/readme.ts'
import { newUser } from '../../support/users.ts'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const { folder, at, file, done } = useScripts()

test('control characters cannot reach a terminal', async () => {
  const title = file('title.csv', 'name,\x1b]0;title\x07\n')
  const { stderr } = await done('import-users', at(sqlitePlace), [title])
  expect(stderr).toContain('\n  {\\u001b]0;title\\u0007} ')
})

test('output that cannot be written is a failure', async () => {
  const place = at(sqlitePlace)
  await createAt(place)
  const people = file('people.csv', 'name,email\nAda,a@x\n')
  const env = { ...process.env, MONGODB_URI: '', ...place.environment }
  const create = 'create-user.js --email b@x'
  for (const command of [create, `import-users.js ${people}`, 'export-users.js -', 'backup.js -']) {
    const shell = `node scripts/users/${command} > /dev/full`
    const { status, stderr } = spawnSync('sh', ['-c', shell], { cwd: dist, encoding: 'utf8', env })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/ENOSPC: no space left .*\n$/)])
  }
})

test('a file is taken from the folder where the user typed its name, if npm runs the program', async () => {
  const place = at(sqlitePlace)
  await createAt(place)
  const env = { INIT_CWD: folder(), npm_lifecycle_event: 'backup' }
  const program = run('scripts/users/backup', place, env, ['users.db'])
  expect([await program.ended, existsSync(join(folder(), 'users.db'))]).toEqual([0, true])
})

test('a folder is refused, and a file in a folder that does not exist', async () => {
  const missing = join(folder(), 'missing')
  for (const [file, message] of [
    [join(missing, 'x.csv'), `there is no folder ${missing}`],
    [folder(), `${folder()} is a folder: give a file`],
  ]) {
    const { code, stderr } = await done('export-users', at(sqlitePlace), [file!])
    expect([code, stderr]).toEqual([2, expect.stringMatching(`^${message}\n`)])
  }
})

test.each([
  ['backup', /^there are no users in .*: check DATA_/],
  ['export-users', /^there are no users: check MONGODB_URI or DATA_DIR\n$/],
])('%s of no users fails, says where it looked and makes no file', async (script, message) => {
  const target = join(folder(), 'users.csv')
  const { code, stderr } = await done(script, at(sqlitePlace), [target])
  expect([code, existsSync(target)]).toEqual([1, false])
  expect(stderr).toMatch(message)
})

test('programs fail with a sentence, and make no file, if MongoDB cannot be reached', async () => {
  const MONGODB_URI = 'mongodb://127.0.0.1:1/x'
  const place = { ...at(sqlitePlace), environment: { MONGODB_URI, SIGNING_SECRET: SECRET } }
  const people = file('people.csv', 'name,email\nAda,a@x\n')
  for (const [script, ...args] of [
    ['create-user', '--email', 'a@x'],
    ['import-users', people],
    ['export-users', join(folder(), 'users.csv')],
  ]) {
    const { code, stderr } = await done(script!, place, args)
    const said = /^cannot use MongoDB at 127.0.0.1:1\/x: ECONNREFUSED: .*\n$/
    expect([code, stderr]).toEqual([1, expect.stringMatching(said)])
  }
  expect(readdirSync(folder())).toEqual(['people.csv'])
  const { code, stdout } = await done('export-users', place, ['--format', 'csv', '-'])
  expect([code, stdout]).toEqual([1, '']) // not even the titles, which would look like a whole file
})

describe.each(programs)('%s', (script) => {
  test('prints its version, and with --help its usage, which store it uses, and its exit codes', async () => {
    const { code, stdout, stderr } = await done(script, at(sqlitePlace), ['--help'])
    expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^usage: /), ''])
    expect((await done(script, at(sqlitePlace), ['--version'])).stdout).toBe(`${version}\n`)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    for (const word of ['MONGODB_URI', 'DATA_DIR', 'Exit codes: 0 ']) expect(stdout).toContain(word)
  })

  test.each(['--nonsense', 'one two three'])('refuses %s with its usage', async (args) => {
    const { code, stdout, stderr } = await done(script, at(sqlitePlace), args.split(' '))
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/^.+\nusage: /)])
  })
})

test('backup ends when nothing was read from its standard output for a minute', async () => {
  const place = at(sqlitePlace)
  await createAt(place, newUser({ name: 'x'.repeat(1_000_000) })) // more than a pipe holds
  const { process, output } = run('scripts/users/backup', place, {}, ['-'])
  process.stdout!.pause()
  expect(await once(process, 'exit')).toEqual([1, null])
  expect(output.stderr).toMatch(/^too slow: nothing was read for a minute/)
})
