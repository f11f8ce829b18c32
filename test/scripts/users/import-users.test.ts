// import-users, as a program.
import { expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '../../support/program.ts'
import { describeStores, sqlitePlace, usersAt, type Place } from '../../support/stores.ts'
import { useTransfers } from '../../support/transfers.ts'

const { folder, at, file, done, importUsers } = useTransfers()

const namesAt = async (place: Place) => (await usersAt(place)).map(({ name }) => name)

const MIXED = 'name,email\nAda,a@x\nBob\nGrace,g@x\nAda,a@x\nEve,a@x\n'

describeStores((kind) => {
  test('import-users stores every good line, lists the others, and exits with 1', async () => {
    const place = at(kind)
    const people = file('people.csv', MIXED)
    const { code, stdout, stderr } = await importUsers(place, people)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^users are kept in (SQLite|MongoDB) .*\nname: name; email: email\n/)
    expect(stderr).toMatch(/\nfirst user: \{"name":"Ada","email":"a@x".*\}\n$/)
    const report = `${people}.report.txt`
    const counts =
      /^created 2, updated 0, unchanged 1, duplicate 1, refused 1; [\d.]+ s, [\d,]+ users\/s$/
    const said = [expect.stringMatching(counts), `${report}\n`]
    expect(stdout.split('; see ')).toEqual(said)
    expect(await namesAt(place)).toEqual(['Ada', 'Grace'])
    const reasons = [
      'line 3: it has 1 field, but the first line has 2 titles',
      `line 6: duplicate: the user ${(await usersAt(place))[0]!.id} has its email`,
    ]
    expect(readFileSync(report, 'utf8')).toBe(reasons.map((reason) => `${reason}\n`).join(''))

    const good = await importUsers(place, '--dry-run', file('people.csv', 'name,email\nBob,b@x\n'))
    expect(good.code).toBe(0)
    expect(good.stdout).toMatch(/^would be created 1, .*s\n$/)
    expect(good.stderr).toContain(stderr.split('\n')[0]!)
    expect([existsSync(report), await namesAt(place)]).toEqual([false, ['Ada', 'Grace']])
  })

  test('a duplicate that differs ends with 1, and a second run of the same users with 0', async () => {
    const place = at(kind)
    const people = file('people.ndjson', '{"mail":"a@x","first_name":"Ada"}\n')
    expect((await importUsers(place, people)).code).toBe(0)
    const again = await importUsers(place, people)
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('unchanged 1,')])
    expect(again.stderr).toContain('name: first_name; email: mail\n')
    const differing = file('people.json', '[{"email":"a@x","name":"Eve"}]')
    for (const options of [['--dry-run'], []]) {
      const { code, stdout } = await importUsers(place, ...options, differing)
      expect([code, stdout]).toEqual([1, expect.stringContaining('duplicate 1,')])
    }
    expect((await importUsers(place, '--update', differing)).code).toBe(0)
    expect(readFileSync(`${differing}.report.txt`, 'utf8')).toMatch(/^line 1, element 1: the user/)
    expect(await namesAt(place)).toEqual(['Eve'])
  })
})

test('a file that is not a report is kept, and nothing is imported', async () => {
  const place = at(sqlitePlace)
  const [people, mine] = [file('people.csv', 'name,email\nAda,a@x\n'), file('mine.csv', 'mine')]
  for (const options of [['--dry-run'], []]) {
    const { code, stderr } = await importUsers(place, ...options, '--report', mine, people)
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`${mine} exists and is not a report`),
    ])
    expect(readFileSync(mine, 'utf8')).toBe('mine')
  }
  expect(await usersAt(place)).toEqual([])
  expect((await importUsers(place, '--force', '--report', mine, people)).code).toBe(0)
})

test('an import whose store cannot be opened leaves no report', async () => {
  const people = file('people.csv', 'name,email\nAda,a@x\n')
  const { code } = await importUsers(
    { ...at(sqlitePlace), environment: { DATA_DIR: people } },
    people,
  )
  expect(code).toBe(1)
  const others = readdirSync(dirname(people)).filter((name) => name.startsWith('people.csv.'))
  expect(others).toEqual([])
})

test('an encoding that cannot be decoded gets the advice to convert the file', async () => {
  const people = file('people.csv', 'name,email\n')
  const { code, stderr } = await importUsers(at(sqlitePlace), '--encoding', 'cp850', people)
  const advice = /"cp850" encoding is not supported: convert the file with iconv\n/
  expect([code, stderr]).toEqual([2, expect.stringMatching(advice)])
})

test('--name-column may be given for each part of a name', async () => {
  const place = at(sqlitePlace)
  const people = file('people.csv', 'Achternaam;Voornaam;Email\nLovelace;Ada;a@x\n')
  const columns = ['--name-column', 'Voornaam', '--name-column', 'Achternaam']
  const { code, stderr } = await importUsers(place, ...columns, people)
  expect(code).toBe(0)
  expect(stderr).toContain('\nname: Voornaam, Achternaam; email: Email\n')
  expect(await namesAt(place)).toEqual(['Ada Lovelace'])
})

test('.tsv and .txt are read as CSV', async () => {
  const place = at(sqlitePlace)
  for (const name of ['people.tsv', 'people.TXT']) {
    const people = file(name, `name\temail\n${name}\t${name}@x\n`)
    expect((await importUsers(place, people)).stdout).toMatch(/^created 1,/)
  }
})

test('--help lists the titles that are known', async () => {
  const { stdout } = await importUsers(at(sqlitePlace), '--help')
  for (const title of ['Vorname', 'apellidos', 'courriel']) expect(stdout).toContain(title)
})

test('standard input is read, and its refused lines are printed to standard error', async () => {
  const place = at(sqlitePlace)
  const lines = '{"name":"Ada","email":"a@x"}\n7\n'
  const args = ['--format', 'ndjson', '-']
  const { code, stdout, stderr } = await done('import-users', place, args, lines)
  expect(code).toBe(1)
  expect(stderr).toContain('\nline 2: it is not a JSON object\n')
  expect(stdout).toMatch(/^created 1, .* refused 1;/)
})

test('what precedes a broken element is stored, and the message names its line', async () => {
  const place = at(sqlitePlace)
  const people = file('people.json', '[{"name":"Ada","email":"a@x"},\n{"name":"Bob]')
  const { code, stdout, stderr } = await importUsers(place, people)
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^created 1,/)])
  expect(stderr).toMatch(/\nline 2, element 2: it is not valid JSON \(after line 1, element 1\)\n$/)
})

test('an import that waits for a named pipe is stopped by a signal, and stores what it has', async () => {
  const pipe = join(folder(), 'pipe.csv')
  execFileSync('mkfifo', [pipe])
  const place = at(sqlitePlace)
  const importing = run('scripts/users/import-users', place, {}, [pipe])
  const writer = await open(pipe, 'r+')
  await writer.write(MIXED)
  while (!importing.output.stderr.includes('line 3')) await sleep(10)
  importing.process.kill('SIGTERM')
  expect(await importing.ended).toBe(130)
  await writer.close()
  expect(importing.output.stdout).toMatch(/^created 2, .* unchanged 1, duplicate 1,/)
  expect(importing.output.stderr).toMatch(/stopped after line 6: run it again to continue\n$/)
})
