// What all programs share, and the small programs.
import { describe, expect, test } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { dist, run, UNSET } from '../../support/program.ts'
import { newFolder, read, root } from '../../support/readme.ts'
import { createAt, SECRET, sqlitePlace, usersAt } from '../../support/stores.ts'
import { useTransfers } from '../../support/transfers.ts'
import { newUser } from '../../support/users.ts'
import { cpSync, existsSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { escapeControls } from '../../../scripts/users/program.ts'
import { contract } from '../../../src/contract/contract.ts'
import { databaseIn } from '../../../src/store/open.ts'

const { folder, at, file, done } = useTransfers()

const USAGE = /^.*\nusage: create-user \[--name NAME\] --email EMAIL\nsee --help\n$/
test.each([
  ['--version', 0, RegExp(`^${contract.info.version}\n$`), /^$/],
  ['--name Ada', 2, /^$/, USAGE],
  ['--email=', 2, /^$/, USAGE],
])('create-user %s exits with %d', async (args, code, stdout, stderr) => {
  const ended = await done('create-user', at(sqlitePlace), args.split(' '))
  const [out, err] = [stdout, stderr].map((pattern) => expect.stringMatching(pattern))
  expect(ended).toEqual({ code, stdout: out, stderr: err })
})

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

const COMMANDS = [
  'create-user --email a@x',
  'import-users --format csv -',
  'export-users -',
  'backup copy.db',
]
test.each(COMMANDS)('%s reads .env in the current folder', async (command) => {
  file('.env', 'STOP_DELAY=soon')
  const [script, ...args] = command.split(' ')
  const program = run(`scripts/users/${script}`, at(sqlitePlace), {}, args, folder())
  program.process.stdin!.end()
  expect(await program.ended).toBe(1)
  expect(program.output.stderr).toMatch(/^STOP_DELAY must be a duration .*, not "soon"\n$/)
})

test.each(['name', 'email'])(
  'create-user refuses a value of --%s that is not UTF-8, instead of storing another one',
  async (option) => {
    const place = at(sqlitePlace)
    const command = `node scripts/users/create-user.js --email a@x --${option} "$(printf 'Jos\\351')"`
    const env = { ...process.env, ...UNSET, ...place.environment }
    const { status, stderr } = spawnSync('sh', ['-c', command], {
      cwd: dist,
      encoding: 'utf8',
      env,
    })
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^the name or the email is not UTF-8/),
    ])
    expect(existsSync(databaseIn(place.DATA_DIR))).toBe(false)
  },
)

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
  expect(stderr).toContain('other users can read or write it')
  expect(await usersAt(place)).toEqual([])
})

describe.each(['import-users', 'export-users', 'create-user', 'backup'])('%s', (script) => {
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

test('create-user obeys the contract as POST does, and stores nothing that it refuses', async () => {
  const copy = newFolder()
  const limited = JSON.parse(read('dist/contract.json'))
  const { post } = limited.paths['/users']
  post.requestBody.content['application/json'].schema.properties.name.maxLength = 3
  cpSync(dist, join(copy, 'dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(copy, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  writeFileSync(join(copy, 'dist/contract.json'), JSON.stringify(limited))
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
