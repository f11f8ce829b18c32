// What all programs share.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { printable } from '../../scripts/program.ts'
import { openStore } from '../../src/store/open.ts'
import { sqlitePlace } from '../support/stores.ts'
import { useTransfers } from '../support/transfers.ts'

const { folder, at, file, done } = useTransfers()

const PROGRAMS = ['import-users', 'export-users', 'create-user', 'backup']

test('every program prints its usage when it is asked to', async () => {
  const place = at(sqlitePlace)
  for (const { code, stdout } of await Promise.all(
    PROGRAMS.map((program) => done(program, place, ['--help'])),
  )) {
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^usage: /)])
  }
})

test('every program refuses an unknown option with its usage', async () => {
  const place = at(sqlitePlace)
  for (const { code, stdout, stderr } of await Promise.all(
    PROGRAMS.map((program) => done(program, place, ['--nonsense', 'x.csv'])),
  )) {
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/^.+\nusage: /)])
  }
})

test('a mistake is answered with a message and an exit code', async () => {
  const place = at(sqlitePlace)
  await (await openStore(place)).close()
  const title = file('title.csv', 'name,\x1b]0;title\x07\n')
  const cases: [string, string[], number, RegExp][] = [
    ['import-users', ['missing.csv'], 1, /^ENOENT/],
    ['import-users', ['people'], 2, /^--format is needed for people/],
    ['import-users', ['--encoding', 'x', 'people.csv'], 2, /^the encoding x is not known/],
    ['import-users', [], 2, /^give one FILE/],
    ['import-users', ['--report', '-', title], 1, /the titles are: name, \\u001b\]0;title\\u0007/],
    ['export-users', ['one.csv', 'two.csv'], 2, /^give one FILE/],
    ['export-users', ['/dev/null/people.csv'], 1, /^ENOTDIR/],
  ]
  for (const [program, args, code, message] of cases) {
    const ended = await done(program, place, args)
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)])
  }
})

test('control characters cannot reach a terminal', () => {
  expect(printable('a\x1b[31m\x9b\x7f\u202e\r\nb')).toBe(
    'a\\u001b[31m\\u009b\\u007f\\u202e\\u000d\nb',
  )
})

test('output that cannot be written is a failure', () => {
  const place = at(sqlitePlace)
  const people = file('people.csv', 'name,email\nAda,a@x\n')
  for (const args of [
    ['import-users.js', people],
    ['export-users.js', '-'],
  ]) {
    const program = fileURLToPath(new URL(`../../dist/scripts/${args[0]}`, import.meta.url))
    const script = '"$0" "$@" > /dev/full'
    const { status, stderr } = spawnSync(
      'bash',
      ['-c', script, process.execPath, program, args[1]!],
      {
        encoding: 'utf8',
        env: { ...process.env, ...place.environment },
      },
    )
    expect([status, stderr]).toEqual([1, 'ENOSPC: no space left on device, write\n'])
  }
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
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^EEXIST: file already exists/)])
})
