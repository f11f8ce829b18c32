// What all programs share, and the small programs.
import { describe, expect, test } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { dist, run } from '../../support/program.ts'
import { createAt, sqlitePlace } from '../../support/stores.ts'
import { programs, useScripts } from '../../support/scripts.ts'
import { newUser } from '../../support/users.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { escapeControls } from '../../../scripts/users/program.ts'

const { folder, at, file, done } = useScripts()

const ARGUMENTS: Record<string, string[]> = {
  'src/main': [],
  'scripts/users/create-user': ['--email', 'a@x'],
  'scripts/users/import-users': ['--format', 'csv', '-'],
}

test('control characters cannot reach a terminal', async () => {
  const escaped = 'a\\u001b[31m\\u009b\\u007f\\u202e\\u000d\nb'
  expect(escapeControls('a\x1b[31m\x9b\x7f\u202e\r\nb')).toBe(escaped)
  const title = file('title.csv', 'name,\x1b]0;title\x07\n')
  const { stderr } = await done('import-users', at(sqlitePlace), [title])
  expect(stderr).toContain('\n  {\\u001b]0;title\\u0007} ')
})

test('output that cannot be written is a failure', async () => {
  const place = at(sqlitePlace)
  await createAt(place)
  const people = file('people.csv', 'name,email\nAda,a@x\n')
  const env = { ...process.env, MONGODB_URI: '', ...place.environment }
  for (const command of [`import-users.js ${people}`, 'export-users.js -', 'backup.js -']) {
    const shell = `node scripts/users/${command} > /dev/full`
    const { status, stderr } = spawnSync('sh', ['-c', shell], { cwd: dist, encoding: 'utf8', env })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/ENOSPC: no space left .*\n$/)])
  }
})

describe.each([
  ['import-users', 'people.csv'],
  ['export-users', 'users.csv'],
  ['backup', 'users.db'],
])('%s', (script, path) => {
  test(`takes ${path} from the folder where the user typed it, if npm runs it`, async () => {
    const place = at(sqlitePlace)
    await createAt(place)
    file('people.csv', 'name,email\nAda,a@x\n')
    const env = { INIT_CWD: folder(), npm_lifecycle_event: script }
    const program = run(`scripts/users/${script}`, place, env, [path])
    program.process.stdin!.end()
    expect([await program.ended, existsSync(join(folder(), path))]).toEqual([0, true])
  })

  test('refuses a folder, and a file in a folder that does not exist', async () => {
    const missing = join(folder(), 'missing')
    const refused = async (file: string, message: string) => {
      const { code, stderr } = await done(script, at(sqlitePlace), [file])
      expect([code, stderr]).toEqual([2, expect.stringMatching(`^${message}\n`)])
    }
    await refused(join(missing, path), `there is no folder ${missing}`)
    await refused(folder(), `${folder()} is a folder: give a file`)
  })
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

const paths = ['src/main', ...programs.map((name) => `scripts/users/${name}`)]
test.each(paths)('%s reads .env in the current folder', async (path) => {
  file('.env', 'STOP_DELAY=soon')
  const program = run(path, at(sqlitePlace), {}, ARGUMENTS[path] ?? ['-'], folder())
  program.process.stdin!.end()
  expect(await program.ended).toBe(1)
  expect(program.output.stderr).toMatch(/^STOP_DELAY must be a duration .*, not "soon"\n$/)
})

describe.each(programs)('%s', (script) => {
  test('prints with --help its usage, which store it uses, and its exit codes', async () => {
    const { code, stdout, stderr } = await done(script, at(sqlitePlace), ['--help'])
    expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^usage: /), ''])
    for (const word of ['MONGODB_URI', 'DATA_DIR', 'Exit codes: 0 ']) expect(stdout).toContain(word)
  })

  test.each(['--nonsense', 'one two three'])('refuses %s with its usage', async (args) => {
    const { code, stdout, stderr } = await done(script, at(sqlitePlace), args.split(' '))
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/^.+\nusage: /)])
  })
})

test('a file that does not exist is named', async () => {
  const failure = { code: 1, stdout: '', stderr: 'missing.csv does not exist\n' }
  expect(await done('import-users', at(sqlitePlace), ['missing.csv'])).toEqual(failure)
})

test('backup ends when nothing was read from its standard output for a minute', async () => {
  const place = at(sqlitePlace)
  await createAt(place, newUser({ name: 'x'.repeat(1_000_000) })) // more than a pipe holds
  const env = { ...process.env, MONGODB_URI: '', ...place.environment }
  const program = spawn('node', ['scripts/users/backup.js', '-'], { cwd: dist, env })
  const said = text(program.stderr)
  const tooSlow = expect.stringMatching(/^too slow: nothing was read for a minute/)
  expect([await once(program, 'exit'), await said]).toEqual([[1, null], tooSlow])
})
