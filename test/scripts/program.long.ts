// The usage and the mistakes of every program.
import { describe, expect, test } from '@jest/globals'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../src/store/open.ts'
import { runToEnd } from '../support/program.ts'
import { root } from '../support/readme.ts'
import { sqlitePlace } from '../support/stores.ts'
import { useTransfers } from '../support/transfers.ts'

const { at, done } = useTransfers()

describe.each(['import-users', 'export-users', 'create-user', 'backup'])('%s', (script) => {
  test('prints its usage with --help', async () => {
    const { code, stdout, stderr } = await done(script, at(sqlitePlace), ['--help'])
    expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^usage: /), ''])
  })

  test('says with --help which store it uses, and its exit codes', async () => {
    const { stdout } = await done(script, at(sqlitePlace), ['--help'])
    for (const word of ['MONGODB_URI', 'DATA_DIR', 'Exit codes: 0 ']) expect(stdout).toContain(word)
  })

  test.each([['--nonsense'], ['one', 'two', 'three']])(
    'refuses %s with its usage',
    async (...args) => {
      const { code, stdout, stderr } = await done(script, at(sqlitePlace), args)
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(/^.+\nusage: /)])
    },
  )
})

test.each<[string, string[], number, RegExp]>([
  ['import-users', ['missing.csv'], 1, /^missing\.csv does not exist/],
  ['import-users', ['--encoding', 'x', 'people.csv'], 2, /^the encoding x is not known/],
  ['import-users', [], 2, /^give one FILE/],
  ['export-users', ['/dev/null/people.csv'], 2, /^there is no folder \/dev\/null/],
])('%s %j exits with %d: %s', async (script, args, code, message) => {
  const place = at(sqlitePlace)
  await (await openStore(place)).close()
  const ended = await done(script, place, args)
  expect([ended.code, ended.stdout]).toEqual([code, ''])
  expect(ended.stderr).toMatch(message)
})

test('npm run takes a relative path from the folder where it is typed', () => {
  const place = at(sqlitePlace)
  const sub = mkdtempSync(join(root, 'dist/sub-'))
  writeFileSync(join(sub, 'people.csv'), 'name,email\nAda,a@x\n')
  const env = { ...process.env, MONGODB_URI: '', ...place.environment }
  const npm = (...args: string[]) =>
    runToEnd('npm', ['run', '--silent', ...args], { cwd: sub, env })
  expect(npm('import-users', '--', 'people.csv')).toMatch(/^created 1,/)
  npm('export-users', '--', 'users.ndjson')
  npm('backup', '--', 'users.db')
  expect(readdirSync(sub).toSorted()).toEqual(['people.csv', 'users.db', 'users.ndjson'])
  rmSync(sub, { recursive: true })
})
