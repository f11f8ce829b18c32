// Exit codes that must not say that all is well. (The rest of the programs: *.long.ts.)
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { checkTaken, escapeControls } from '../../../scripts/users/program.ts'
import { databaseIn } from '../../../src/store/open.ts'
import { dist, run, UNSET } from '../../support/program.ts'
import { createAt, sqlitePlace } from '../../support/stores.ts'
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

test.each([
  ['create-user', ['--name', 'Ada', '--email', 'a@x', '--email', 'b@x'], '--email'],
  ['export-users', ['q.csv', '--format=csv', '--format=ndjson'], '--format'],
])('an option of %s that is given twice is refused', async (script, args, option) => {
  const place = at(sqlitePlace)
  const { ended, output } = run(`scripts/users/${script}`, place, {}, args)
  expect([await ended, output.stderr]).toEqual([
    2,
    expect.stringMatching(`^${option} was given twice`),
  ])
  expect(existsSync(databaseIn(place.DATA_DIR))).toBe(false)
})

test('an import in which a user differs from the one that is stored exits with 1', async () => {
  const people = file('people.csv', 'name,email\nAda,a@x\nEve,a@x\n')
  const { code, stdout } = await done('import-users', at(sqlitePlace), [people])
  expect([code, stdout]).toEqual([1, expect.stringContaining('created 1,')])
  expect(stdout).toContain('duplicate 1, refused 0\n')
})

test('what controls a terminal, or the direction of text, is escaped', () => {
  const escaped = 'a\\u001b[31m\\u009b\\u007f\\u202e\\u2066\\u000d\nb'
  expect(escapeControls('a\x1b[31m\x9b\x7f\u202e\u2066\r\nb')).toBe(escaped)
})

const flag = { type: 'boolean' } as const
const text = { type: 'string' } as const
const OPTIONS = { 'new-ids': flag, update: flag, email: text, name: text } as const
const check = (env: NodeJS.ProcessEnv, given = {}) =>
  checkTaken(OPTIONS, given, { npm_lifecycle_event: 'import-users', ...env })

test.each([
  ['dry-run', 'dry_run', 'true'], // not an option of each program
  ['dry-run', 'dryrun', 'true'],
  ['new-ids', 'new_ids', 'true'],
  ['update', 'update_notifier', 'true'], // npm reads --update so
  ['email', 'email', 'true'], // --email a@x
  ['email', 'email', '{E-mail}'],
  ['name', 'name', 'email'],
  ['id', 'id', 'x'], // not an option
])('without --%s, npm_config_%s=%s is refused, unless it was given, too', (option, name, value) => {
  const env = { [`npm_config_${name}`]: value }
  const message = `npm has taken --${option} for itself: put -- before the options (or .npmrc has it)`
  expect(() => check(env)).toThrow(message)
  expect(() => check(env, { [option]: true })).not.toThrow()
})

test('what .npmrc can have for years is not refused, nor a variable where npm does not run', () => {
  expect(() => check({ npm_config_email: 'a@x', npm_config_update_notifier: '' })).not.toThrow()
  expect(() => checkTaken({}, {}, { npm_config_dry_run: 'true' })).not.toThrow()
})

test.each([
  ['restore', ['x.db'], { npm_config_dry_run: 'true' }, /^npm has taken --dry-run /],
  ['create-user', ['--email', 'a@x'], { npm_config_name: 'Ada' }, /^npm has taken --name /],
  ['import-users', ['p.csv'], { npm_config_name: 'email' }, /^npm has taken --name /],
  ['create-user', [], {}, /^give an email/],
  ['backup', ['-'], {}, /^npm writes to standard output, too: use npm run --silent/],
  ['export-users', ['-'], { npm_config_loglevel: 'warn' }, /^npm writes to standard/],
])('under npm, %s %j with %j is refused, with the --', async (script, args, env, message) => {
  const npm = { npm_lifecycle_event: script, ...env } as Record<string, string>
  const { ended, output } = run(`scripts/users/${script}`, at(sqlitePlace), npm, args)
  expect([await ended, output.stderr]).toEqual([2, expect.stringMatching(message)])
  expect(output.stderr).toContain(`\nusage: npm run ${script} -- `)
})

test('with a silent npm, a backup goes to standard output', async () => {
  const place = at(sqlitePlace)
  await createAt(place)
  const npm = { npm_lifecycle_event: 'backup', npm_config_loglevel: 'silent' }
  expect(await run('scripts/users/backup', place, npm, ['-']).ended).toBe(0)
})

const testAsRoot = process.getuid?.() === 0 ? test : test.skip
testAsRoot.each([
  ['create-user', ['--email', 'a@x']],
  ['import-users', ['--format', 'ndjson', '-']],
])('%s makes no database in a folder of another account', async (script, args) => {
  const place = at(sqlitePlace)
  mkdirSync(place.DATA_DIR, { recursive: true })
  chownSync(place.DATA_DIR, 1_000, 1_000)
  const { code, stderr } = await done(script, place, args, '{"name":"","email":"a@x"}')
  expect([code, stderr]).toEqual([1, expect.stringMatching('belongs to the uid 1000: run this as')])
  expect(readdirSync(place.DATA_DIR)).toEqual([])
})

testAsRoot('create-user makes no secret in a folder of another account', async () => {
  const place = at(sqlitePlace)
  await createAt(place)
  chownSync(place.DATA_DIR, 1_000, 1_000)
  const { code, stderr } = await done('create-user', place, ['--email', 'b@x'])
  expect([code, stderr]).toEqual([1, expect.stringMatching('belongs to the uid 1000: run this as')])
  expect(readdirSync(place.DATA_DIR)).not.toContain('signing-secret')
})

test.each(['backup', 'export-users'])(
  '%s does not say that there are no users where it cannot look',
  async (script) => {
    const place = at(sqlitePlace)
    rmSync(place.DATA_DIR, { recursive: true, force: true })
    symlinkSync(place.DATA_DIR, place.DATA_DIR)
    const { code, stderr } = await done(script, place, ['-'])
    expect([code, stderr]).toEqual([1, expect.stringMatching('ELOOP')])
  },
)

test('a template beside which --name is missing says so', async () => {
  const args = ['--email', '{email}', file('people.csv', 'name,email\n')]
  const { code, stderr } = await done('import-users', at(sqlitePlace), args)
  expect([code, stderr]).toEqual([2, expect.stringMatching('--name is missing\n')])
})
