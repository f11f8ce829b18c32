// The usage and the mistakes of every program.
import { describe, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { dist } from '../../support/program.ts'
import { createAt, sqlitePlace } from '../../support/stores.ts'
import { useTransfers } from '../../support/transfers.ts'
import { newUser } from '../../support/users.ts'

const { at, done } = useTransfers()

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
