// import-users and export-users, as programs.
import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../../src/store/open.ts'
import { run } from '../../support/program.ts'
import { describeStores, usersAt, type Place, createAt, sqlitePlace } from '../../support/stores.ts'
import { useScripts } from '../../support/scripts.ts'
import { newUser } from '../../support/users.ts'
import { readdirSync } from 'node:fs'

const { at, file, done } = useScripts()
const importUsers = (place: Place, ...args: string[]) => done('import-users', place, args)

const ID = 'a'.repeat(24)
const MIXED = `id,name,email\n,Ada,a@x\n,Bob\n${ID},Cy,\n,Eve,a@x\n${ID},Dan,d@x\n,Ada,a@x\n`
const TEMPLATES = ['--name', '{First} {Last}', '--email', '{Mail}']

describeStores((kind) => {
  test('every good row is stored once, and the others are lines on standard error', async () => {
    const place = at(kind)
    const people = file('people.csv', MIXED)
    const first = await importUsers(place, people)
    const users = await usersAt(place)
    const { id } = users.find(({ name }) => name === 'Ada')!
    expect(first.stdout.split('\n')).toEqual([
      'columns: id, name, email',
      expect.stringMatching(/^first user: \{"name":"Ada","email":"a@x".*\}$/),
      expect.stringMatching(/^users are kept in (SQLite|MongoDB) /),
      'created 2, updated 0, unchanged 1, duplicate 2, refused 1',
      '',
    ])
    const lines = [
      'line 3: it has 2 fields, and there are 3 titles',
      `line 5: the user ${id} has its email, and differs`,
      `line 6: the user ${ID} has its id, and differs`,
    ]
    const again = await importUsers(place, people)
    expect(again.stdout).toContain('\ncreated 0, updated 0, unchanged 3, duplicate 2, refused 1\n')
    for (const { code, stderr } of [first, again])
      expect([code, stderr.split('\n').toSorted()]).toEqual([1, ['', ...lines]])
    expect(await usersAt(place)).toEqual(users)
    const rows = `${'b'.repeat(24)},Ada,a@x\n${ID},Dan,d@x\n` // the id differs, or the email
    const other = file('other.tsv', `id,name,email\n${rows}`.replaceAll(',', '\t'))
    for (const options of [[], ['--update']])
      expect((await importUsers(place, ...options, other)).stdout).toContain(
        ' updated 0, unchanged 0, duplicate 2,',
      )
  })

  test('--update gives users the names in the file by their emails, and lists them', async () => {
    const place = at(kind)
    const rows = ['Ada,Alm,a@x', 'Bob,,b@x', 'Bob,,b@x', ',,c@x', 'Bo,,b@x']
    const people = (...some: string[]) =>
      file('people.txt', ['First,Last,Mail', ...some].join('\n').replaceAll(',', '|'))
    const run = (...some: string[]) => importUsers(place, '--update', ...TEMPLATES, people(...some))
    expect((await run('Eve,,a@x')).code).toBe(0)
    const { stdout, stderr } = await run(...rows)
    expect(stdout).toContain('\ncreated 2, updated 1, unchanged 1, duplicate 0, refused 1\n')
    expect(stderr).toMatch(
      /^line 6: another row has its .* name\nline 2: the user \w+ was updated\n$/,
    )
    expect(await run(rows[0]!)).toMatchObject({ code: 0, stderr: '' })
    expect(await run(',,a@x')).toMatchObject({ code: 1 }) // an empty name replaces none
    const names = (await usersAt(place)).map(({ name }) => name)
    expect(names).toEqual(['Ada Alm', 'Bob', ''])
  })
})

test('other columns and --dry-run make no store', async () => {
  const place = at(sqlitePlace)
  const people = file('people.csv', 'First;Last;Mail\nAda;Alm;a@x\nBob;;b\u2800@x\n')
  const other =
    /^its columns .*\n {2}\{First\} +Ada\n {2}\{Last\} +Alm\n {2}\{Mail\} +a@x\nName the/
  const refused = { code: 2, stdout: '', stderr: expect.stringMatching(other) }
  expect(await importUsers(place, people)).toEqual(refused)
  const { code, stdout, stderr } = await importUsers(place, '--dry-run', ...TEMPLATES, people)
  expect([code, stderr]).toEqual([1, 'line 3: its email is not one plain address\n'])
  expect(stdout).toMatch(/^columns: .*\nfirst user: .*\nif no .* taken, would be created 1,/)
  expect(readdirSync(place.DATA_DIR)).toEqual([])
})

test('standard input is read; what precedes the end of an import is stored', async () => {
  const lines = Buffer.from('{"name":"Ada","email":"a@x"}\n7\n{"name":"Zo\xeb"}\n', 'latin1')
  const args = ['--format', 'ndjson', '-']
  const { code, stdout, stderr } = await done('import-users', at(sqlitePlace), args, lines)
  expect([code, stdout]).toEqual([1, expect.stringMatching(/\ncreated 1, .* refused 1\n$/)])
  expect(stderr).toMatch(/^line 2: it is not a JSON object\nline 3 is not UTF-8: .*\n$/)
})

test('a slow reader of standard error gets every line', async () => {
  const rows = file('bad.csv', `name,email\n${',b\n'.repeat(5_000)}`)
  const importing = run('scripts/users/import-users', at(sqlitePlace), {}, [rows])
  importing.process.stderr!.pause()
  await sleep(2_000)
  importing.process.stderr!.resume()
  expect(await importing.ended).toBe(1)
  expect(importing.output.stderr.split('\n')).toHaveLength(5_001)
})

/** A server without indexes, which may stand in for MongoDB, reads all users for each look-up. */
const many = ({ MONGODB_URI }: Place) => (MONGODB_URI ? 10_000 : 200_000)

function people(count: number): string {
  const lines = Array.from({ length: count }, (_, i) => `Ada,ada-${i}@x\n`)
  return file('people.csv', `name,email\n${lines.join('')}`)
}

describeStores((kind) => {
  const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGKILL'] as const
  test.each(SIGNALS)('an import that is ended by %s goes on when run again', async (signal) => {
    const place = at(kind)
    const count = many(place)
    const importing = run('scripts/users/import-users', place, {}, [people(count)])
    const store = await openStore(place)
    while (!(await store.oldest())) await sleep(10)
    await store.close()
    expect(await importing.stop(signal)).toBe(signal === 'SIGKILL' ? signal : 130)
    let stored = 0
    // MongoDB may still be inserting the last users of a killed program.
    for (let before = -1; before !== stored; await sleep(200)) {
      before = stored
      stored = (await usersAt(place)).length
    }
    expect(stored).toBeLessThan(count)
    const { code, stdout } = await importUsers(place, people(count))
    const [created, unchanged] = [count - stored, stored].map((n) => n.toLocaleString('en'))
    const summary = `created ${created}, updated 0, unchanged ${unchanged}, duplicate 0, refused 0\n`
    expect([code, stdout]).toEqual([0, expect.stringContaining(summary)])
    expect(await usersAt(place)).toHaveLength(count)
  })
})

test('an export that is stopped by Ctrl-C says so, and exits with 130', async () => {
  const place = at(sqlitePlace)
  await createAt(place, newUser({ name: 'x'.repeat(1_000_000) })) // more than a pipe holds
  const { process, ended, output } = run('scripts/users/export-users', place, {}, ['-'])
  await once(process.stdout!, 'data')
  process.stdout!.pause()
  process.kill('SIGINT')
  expect(await once(process, 'exit')).toEqual([130, null])
  process.stdout!.resume()
  await ended
  expect(output.stderr).toBe('stopped: not all users were written\n')
})
