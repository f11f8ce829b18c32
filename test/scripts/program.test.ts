// What all programs share, and the small programs.
import { describe, expect, jest, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { existsSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fileAt, printable, run, UsageError } from '../../scripts/program.ts'
import { contract } from '../../src/contract/document.ts'
import { openStore } from '../../src/store/open.ts'
import { run as start } from '../support/program.ts'
import { sqlitePlace } from '../support/stores.ts'
import { useTransfers } from '../support/transfers.ts'

const { folder, at, file, done } = useTransfers()

test('a program exits with its own code, 1 if it fails, and 2 if its arguments are wrong', async () => {
  const said: string[] = []
  const spies = [
    jest.spyOn(console, 'error').mockImplementation((text) => void said.push(text)),
    jest.spyOn(process.stdout, 'write').mockImplementation((text, ...[done]: unknown[]) => {
      said.push(text as string)
      ;(done as () => void)()
      return true
    }),
  ]
  const codes = []
  for (const word of ['well', 'fail', 'misuse', '--help', '-h', '--version', '--nonsense']) {
    const main = async (_: object, [first]: string[]) => {
      if (first === 'fail') throw new Error('it \x1b failed')
      if (first === 'misuse') throw new UsageError('not so')
      return 130
    }
    codes.push(await run('usage: x\n\nDoes x.', {}, main, [word]))
  }
  spies.forEach((spy) => spy.mockRestore())
  expect(codes).toEqual([130, 1, 2, 0, 0, 0, 2])
  expect(said).toEqual([
    'it \\u001b failed',
    'not so',
    'usage: x\nsee --help',
    'usage: x\n\nDoes x.\n',
    'usage: x\n\nDoes x.\n',
    `${contract.info.version}\n`,
    expect.stringContaining('--nonsense'),
    'usage: x\nsee --help',
  ])
})

test('control characters cannot reach a terminal', async () => {
  expect(printable('a\x1b[31m\x9b\x7f\u202e\r\nb')).toBe(
    'a\\u001b[31m\\u009b\\u007f\\u202e\\u000d\nb',
  )
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
  for (const [script, ...args] of [
    ['import-users', people],
    ['export-users', '-'],
  ]) {
    const program = fileURLToPath(new URL(`../../dist/scripts/${script}.js`, import.meta.url))
    const { status, stderr } = spawnSync(
      'bash',
      ['-c', '"$0" "$@" > /dev/full', process.execPath, program, ...args],
      { encoding: 'utf8', env: { ...process.env, MONGODB_URI: '', ...place.environment } },
    )
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/ENOSPC: no space left on device, write\n$/),
    ])
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

  test('refuses a file in a folder that does not exist', async () => {
    const missing = join(folder(), 'missing')
    const { code, stderr } = await done(script, at(sqlitePlace), [...args, join(missing, path)])
    expect([code, stderr]).toEqual([2, expect.stringMatching(`^there is no folder ${missing}\n`)])
  })

  test('refuses a folder', async () => {
    const { code, stderr } = await done(script, at(sqlitePlace), [...args, folder()])
    const first = `${folder()} is a folder: give a file\n`
    expect([code, stderr]).toEqual([2, expect.stringContaining(first)])
  })
})

test('a path is left as it is if npm runs another script', () => {
  const before = { ...process.env }
  Object.assign(process.env, { INIT_CWD: folder(), npm_lifecycle_event: 'test' })
  expect(fileAt('people.csv')).toBe('people.csv')
  process.env = before
})

test.each([
  ['import-users', /people\.csv does not exist\n$/],
  ['backup', /^there are no users in .*: check DATA_DIR\n$/],
])('%s says in plain words that there is nothing to read', async (script, message) => {
  const { code, stderr } = await done(script, at(sqlitePlace), [join(folder(), 'people.csv')])
  expect([code, stderr]).toEqual([1, expect.stringMatching(message)])
})

test('create-user says where the user is stored', async () => {
  const place = at(sqlitePlace)
  const { stderr } = await done('create-user', place, ['--email', 'a@x'])
  expect(stderr).toBe(`stored in SQLite in ${join(place.dataDir, 'users.db')}\n`)
})

test('backup writes a file that only its owner may read, and never through a link', async () => {
  const place = at(sqlitePlace)
  await (await openStore(place)).close()
  const [copy, link] = [join(folder(), 'copy.db'), join(folder(), 'link.db')]
  symlinkSync(join(folder(), 'target.db'), link)
  expect((await done('backup', place, [copy])).code).toBe(0)
  expect(statSync(copy).mode & 0o777).toBe(0o600)
  const { code, stderr } = await done('backup', place, [link])
  expect([code, stderr]).toEqual([1, `${link} exists: give another file\n`])
})
