// What all programs share, and the small programs.
import { describe, expect, jest, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileAt, escapeControls, run, UsageError } from '../../scripts/program.ts'
import { contract } from '../../src/contract/document.ts'
import { openStore } from '../../src/store/open.ts'
import { dist, run as start } from '../support/program.ts'
import { sqlitePlace } from '../support/stores.ts'
import { useTransfers } from '../support/transfers.ts'

const { folder, at, file, done } = useTransfers()

test('a program exits with its own code, 1 if it fails, and 2 if its arguments are wrong', async () => {
  const [USAGE, HELP] = ['usage: x\nsee --help', 'usage: x\n\nDoes x.\n']
  const said: string[] = []
  jest.spyOn(console, 'error').mockImplementation((text) => void said.push(text))
  jest.spyOn(process.stdout, 'write').mockImplementation((text, ...[done]: unknown[]) => {
    said.push(text as string)
    ;(done as () => void)()
    return true
  })
  const main = async (_: object, [first]: string[]) => {
    if (first === 'fail') throw new Error('it \x1b failed')
    if (first === 'misuse') throw new UsageError('not so')
    return 130
  }
  const codes = []
  for (const word of ['well', 'fail', 'misuse', '--help', '-h', '--version', '--nonsense']) {
    codes.push(await run(HELP.trimEnd(), {}, main, [word]))
  }
  jest.restoreAllMocks()
  expect(codes).toEqual([130, 1, 2, 0, 0, 0, 2])
  const failed = ['it \\u001b failed', 'not so', USAGE]
  const nonsense = [expect.stringContaining('--nonsense'), USAGE]
  expect(said).toEqual([...failed, HELP, HELP, `${contract.info.version}\n`, ...nonsense])
})

test('control characters cannot reach a terminal', async () => {
  const escaped = 'a\\u001b[31m\\u009b\\u007f\\u202e\\u000d\nb'
  expect(escapeControls('a\x1b[31m\x9b\x7f\u202e\r\nb')).toBe(escaped)
  for (const [first, said] of [
    ['name', 'are: name, \\u001b]0;title\\u0007\n'],
    ['name,email', 'name: name; email: email; not used: \\u001b]0;title\\u0007\n'],
  ]) {
    const title = file('title.csv', `${first},\x1b]0;title\x07\n`)
    const { stderr } = await done('import-users', at(sqlitePlace), ['--report', '-', title])
    expect(stderr).toContain(said)
  }
})

test('output that cannot be written is a failure', () => {
  const place = at(sqlitePlace)
  const people = file('people.csv', 'name,email\nAda,a@x\n')
  const env = { ...process.env, MONGODB_URI: '', ...place.environment }
  for (const command of [`import-users.js ${people}`, 'export-users.js -', 'backup.js -']) {
    const shell = `node scripts/${command} > /dev/full`
    const { status, stderr } = spawnSync('sh', ['-c', shell], { cwd: dist, encoding: 'utf8', env })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/ENOSPC: no space left .*\n$/)])
  }
})

describe.each<[string, string[], string]>([
  ['import-users', [], 'people.csv'],
  ['import-users', ['--format', 'ndjson', '-', '--report'], 'report.txt'],
  ['export-users', [], 'users.csv'],
  ['backup', [], 'users.db'],
])('%s %j', (script, args, path) => {
  test(`takes ${path} from the folder where the user typed it, if npm runs it`, async () => {
    const place = at(sqlitePlace)
    await (await openStore(place)).close()
    file('people.csv', 'name,email\nAda,a@x\n')
    const env = { INIT_CWD: folder(), npm_lifecycle_event: script }
    const program = start(`scripts/${script}`, place, env, [...args, path])
    program.process.stdin!.end()
    expect([await program.ended, existsSync(join(folder(), path))]).toEqual([0, true])
  })

  test('refuses a folder, and a file in a folder that does not exist', async () => {
    const missing = join(folder(), 'missing')
    const refused = async (file: string, message: string) => {
      const { code, stderr } = await done(script, at(sqlitePlace), [...args, file])
      expect([code, stderr]).toEqual([2, expect.stringMatching(`^${message}\n`)])
    }
    await refused(join(missing, path), `there is no folder ${missing}`)
    await refused(folder(), `${folder()} is a folder: give a file`)
  })
})

test('a path is left as it is if npm runs another script', () => {
  const before = { ...process.env }
  Object.assign(process.env, { INIT_CWD: folder(), npm_lifecycle_event: 'test' })
  expect(fileAt('people.csv')).toBe('people.csv')
  process.env = before
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

test.each(['import-users --format csv -', 'export-users -', 'backup copy.db'])(
  '%s reads .env in the current folder',
  async (command) => {
    file('.env', 'STOP_DELAY=soon')
    const [script, ...args] = command.split(' ')
    const program = start(`scripts/${script}`, at(sqlitePlace), {}, args, folder())
    const stderr = expect.stringMatching(/^STOP_DELAY must be a duration .*, not "soon"\n$/)
    expect([await program.ended, program.output.stderr]).toEqual([1, stderr])
  },
)

test('create-user stores a user whose email looks wrong, and warns', async () => {
  const { code, stdout, stderr } = await done('create-user', at(sqlitePlace), ['--email', 'a b@x'])
  expect([code, stdout]).toEqual([0, expect.stringContaining('"email":"a b@x"')])
  expect(stderr).toMatch(/^stored in .*\na b@x does not look like an email.*\n$/)
})

test('create-user says where it stores', async () => {
  const place = at(sqlitePlace)
  const made = await done('create-user', place, ['--email', 'a@x'])
  expect(made.stderr).toBe(`stored in SQLite in ${join(place.dataDir, 'users.db')}\n`)
})
