// import-users and export-users, as programs, on each store.
import { describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { databaseIn, openExisting, openStore } from '../../src/store/open.ts'
import { run, runToEnd, serve } from '../support/program.ts'
import { tokens } from '../support/service.ts'
import { describeStores, SECRET, sqlitePlace, usersAt, type Place } from '../support/stores.ts'
import { scans, useTransfers } from '../support/transfers.ts'

const { folder, at, file, done, importUsers, exportUsers } = useTransfers()

const namesAt = async (place: Place) => (await usersAt(place)).map(({ name }) => name)

const MIXED = `name,email
Ada,ada@example.com
Bob
Grace,grace@example.com
Ada again,ada@example.com
"broken,x@example.com
Nobody,
Nobody,
`

describeStores((kind) => {
  test('import-users stores every good line, and reports every other with its number and reason', async () => {
    const place = at(kind)
    const people = file('people.csv', MIXED)
    const { code, stdout, stderr } = await importUsers(place, people)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^created 4, updated 0, duplicate 1, refused 2; [\d.]+ s, [\d,]+ users\/s; see .*people\.csv\.report\.txt\n$/,
    )
    expect(await namesAt(place)).toEqual(['Ada', 'Grace', 'Nobody', 'Nobody'])
    expect(readFileSync(`${people}.report.txt`, 'utf8')).toBe(
      `line 3: refused: it has 1 fields, the header has 2
line 5: duplicate: a user with email "ada@example.com" already exists
line 6: refused: its quotes are broken
`,
    )
  })

  test('importing a file again changes nothing, users without an email included', async () => {
    const place = at(kind)
    const people = file('people.csv', MIXED)
    await importUsers(place, people)
    const users = await usersAt(place)
    const { code, stdout } = await importUsers(place, people)
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^created 0, updated 0, duplicate 5,/),
    ])
    expect(await usersAt(place)).toEqual(users)
  })

  test('a user without an email is known again by the name: as many as there are', async () => {
    const place = at(kind)
    await importUsers(place, file('two.csv', 'name,email\nBob,\nAda,a@x\nBob,\n'))
    const users = await usersAt(place)
    const more = file('more.csv', 'name,email\nBob\nBob,\nBob,\nEve,\nBob,\n')
    for (const option of ['--dry-run', '--update']) {
      const { stdout } = await importUsers(place, option, more)
      expect(stdout).toMatch(/created 2, updated 0, duplicate 2, refused 1;/)
    }
    expect(readFileSync(`${more}.report.txt`, 'utf8')).toBe(
      `line 2: refused: it has 1 fields, the header has 2
line 3: duplicate: a user with name "Bob" and no email already exists
line 4: duplicate: a user with name "Bob" and no email already exists
`,
    )
    expect((await usersAt(place)).slice(0, 3)).toEqual(users)
    expect((await namesAt(place)).slice(3)).toEqual(['Eve', 'Bob'])
  })

  test('a user without an email may have an id, which tells another one of this name', async () => {
    const place = at(kind)
    const id = 'a'.repeat(24)
    const others = Array.from({ length: 200 }, (_, i) => `,n${i},n${i}@x\n`).join('')
    const people = file('people.csv', `id,name,email\n${id},Ann,\n${others},Ann,\n,Ann,\n`)
    expect((await importUsers(place, people)).stdout).toMatch(/^created 203, .* duplicate 0,/)
    expect((await importUsers(place, people)).stdout).toMatch(/^created 0, .* duplicate 203,/)
  })

  test('a dry run makes no store, and an export of none fails', async () => {
    const place = at(kind)
    const people = file('people.csv', 'name,email\nAda,a@x\n')
    expect((await importUsers(place, '--dry-run', people)).stdout).toMatch(/^would be created 1,/)
    expect(await openExisting(place)).toBeUndefined()
    const { code, stderr } = await exportUsers(place, join(folder(), 'users.csv'))
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^there are no users: MONGODB_URI/)])
    expect(existsSync(join(folder(), 'users.csv'))).toBe(false)
    expect(await openExisting(place)).toBeUndefined()
  })

  test('with --update a user whose email is there gets the name in the file', async () => {
    const place = at(kind)
    await importUsers(place, file('people.csv', 'name,email\nAda,a@x\nBob,b@x\n'))
    const [ada, bob] = await usersAt(place)
    const changes = file(
      'changes.ndjson',
      '{"name":"Eve","email":"a@x"}\n{"name":"Bob","email":"b@x"}\n',
    )
    const { stdout } = await importUsers(place, '--update', changes)
    expect(stdout).toMatch(/^created 0, updated 1, duplicate 1, refused 0;/)
    expect(await usersAt(place)).toEqual([{ ...ada, name: 'Eve' }, bob])
  })

  test('a dry run says what an import would do, and does nothing', async () => {
    const place = at(kind)
    await importUsers(place, file('people.csv', 'name,email\nAda,a@x\n'))
    const users = await usersAt(place)
    const more = file('more.csv', 'name,email\nEve,a@x\nBob,b@x\nBob,b@x\nBob\n')
    const tried = await importUsers(place, '--dry-run', more)
    expect(tried.stdout).toMatch(/^would be created 1, updated 0, duplicate 2, refused 1;/)
    expect(await usersAt(place)).toEqual(users)
    expect((await importUsers(place, more)).stdout).toMatch(
      /^created 1, updated 0, duplicate 2, refused 1;/,
    )
  })

  test('an import is safe beside a running service', async () => {
    const place = at(kind)
    const service = serve(place, { SIGNING_SECRET: SECRET })
    const url = await service.listening()
    const count = (await scans(place)) ? 2_000 : 50_000
    const lines = Array.from({ length: count }, (_, i) => `Ada,ada-${i}@example.com\n`)
    const importing = run('scripts/import-users', place, {}, [
      file('people.csv', `name,email\n${lines.join('')}`),
    ])
    const headers = {
      authorization: `Bearer ${tokens.issue('x')}`,
      'content-type': 'application/json',
    }
    const statuses = new Set<number>()
    let created = 0
    for (let over = false; !over;) {
      const body = JSON.stringify({ name: 'Bob', email: `bob-${(created += 1)}@example.com` })
      statuses.add((await fetch(`${url}/users`, { method: 'POST', headers, body })).status)
      over = importing.process.exitCode !== null
    }
    expect([...statuses]).toEqual([201])
    expect(await importing.ended).toBe(0)
    expect(await usersAt(place)).toHaveLength(count + created)
  })

  /** A file of many users, and an import of it that has begun to store them. */
  async function begunImport(place: Place) {
    const count = (await scans(place)) ? 3_000 : 200_000
    const lines = Array.from({ length: count }, (_, i) => `Ada,${i % 10 ? `ada-${i}@x` : ''}\n`)
    const people = file('people.csv', `name,email\n${lines.join('')}`)
    const importing = run('scripts/import-users', place, {}, [people])
    const store = await openStore(place)
    while (await store.isEmpty()) await sleep(10)
    await store.close()
    return { count, people, importing }
  }

  test('an import that is stopped by Ctrl-C says what it has stored', async () => {
    const place = at(kind)
    const { count, importing } = await begunImport(place)
    importing.process.kill('SIGINT')
    expect(await importing.ended).toBe(130)
    expect(importing.output.stderr).toMatch(/stopped behind line [\d]+: run it again to go on\n$/)
    const stored = Number(/stopped behind line (\d+)/.exec(importing.output.stderr)![1]) - 1
    expect(await usersAt(place)).toHaveLength(stored)
    expect(importing.output.stdout).toContain(`created ${stored.toLocaleString('en')},`)
    expect(stored).toBeLessThan(count)
  })

  test.each(['SIGINT', 'SIGKILL'] as const)(
    'an import that was ended by %s goes on when it is run again',
    async (signal) => {
      const place = at(kind)
      const { count, people, importing } = await begunImport(place)
      importing.process.kill(signal)
      await importing.ended
      const stored = (await usersAt(place)).length
      expect(stored).toBeLessThan(count)
      const { code, stdout } = await importUsers(place, people)
      const [created, duplicate] = [count - stored, stored].map((n) => n.toLocaleString('en'))
      expect([code, stdout]).toEqual([
        0,
        expect.stringContaining(
          `created ${created}, updated 0, duplicate ${duplicate}, refused 0;`,
        ),
      ])
      expect(await usersAt(place)).toHaveLength(count)
    },
  )

  test.each(['csv', 'ndjson', 'json', 'csv.gz'])(
    'an export as %s makes the same users in an empty store, with the same ids, in the same order',
    async (extension) => {
      const place = at(kind)
      const texts = [
        '',
        'a\0b',
        '"',
        ',',
        '\r\n',
        '\r',
        ' x ',
        '\uFEFF',
        '\u2028',
        '\u{10FFFF}',
        '\uFFFD',
        '=1+1',
      ]
      const users = texts.flatMap((name, i) => [
        { name, email: `${name}-${i}@example.com` },
        { name, email: '' },
      ])
      await importUsers(
        place,
        file(
          'u.ndjson',
          users
            .filter(({ name, email }) => name + email !== '')
            .map((user) => `${JSON.stringify(user)}\n`)
            .join(''),
        ),
      )
      const store = await openStore(place)
      await store.create({ name: '', email: '' })
      await store.close()
      const before = await usersAt(place)
      expect(before).toHaveLength(users.length)
      const target = join(folder(), `export.${extension}`)
      const { code, stderr } = await exportUsers(place, target)
      expect([code, stderr]).toEqual([
        0,
        expect.stringMatching(/^exported 24; [\d.]+ s, [\d,]+ users\/s\n$/),
      ])
      const other = at(kind)
      expect((await importUsers(other, target)).stdout).toMatch(/^created 24,/)
      expect(await usersAt(other)).toEqual(before)
    },
  )
})

describe('import-users', () => {
  test('reads standard input, and then reports on standard error', async () => {
    const place = at(sqlitePlace)
    const lines = '{"name":"Ada","email":"a@x"}\n7\n'
    const ended = await done('import-users', place, ['--format', 'ndjson', '-'], lines)
    expect([ended.code, ended.stderr]).toEqual([0, 'line 2: refused: it is no JSON object\n'])
    expect(ended.stdout).toMatch(/^created 1, .* refused 1;/)
    expect(await namesAt(place)).toEqual(['Ada'])
  })

  test('takes what POST takes, and refuses what it refuses', async () => {
    const place = at(sqlitePlace)
    const lines = [
      { name: 7, email: true },
      { name: null, email: 'b@x' },
      { email: 'c@x', admin: 1 },
      { name: {}, email: 'd@x' },
      { name: 'x', email: '\uD800' },
    ]
    const people = file('people.ndjson', lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    await importUsers(place, people)
    expect((await usersAt(place)).map(({ name, email }) => [name, email])).toEqual([
      ['7', 'true'],
      ['', 'b@x'],
      ['', 'c@x'],
    ])
    expect(readFileSync(`${people}.report.txt`, 'utf8')).toBe(
      'line 4: refused: field `name` must be a string\nline 5: refused: field `email` must not hold a lone surrogate\n',
    )
  })

  test('refuses an id of another form, unless new ones are asked for', async () => {
    const place = at(sqlitePlace)
    const people = file('people.csv', 'id,name,email\n1,Ada,a@x\n')
    expect((await importUsers(place, people)).stdout).toMatch(/refused 1;/)
    expect(readFileSync(`${people}.report.txt`, 'utf8')).toMatch(
      /24 lower-case hexadecimal digits \(--new-ids/,
    )
    expect((await importUsers(place, '--new-ids', people)).stdout).toMatch(/^created 1,/)
    expect(existsSync(`${people}.report.txt`)).toBe(false)
  })

  test('reports an id that is taken', async () => {
    const place = at(sqlitePlace)
    const id = 'a'.repeat(24)
    const people = file('people.csv', `id,name,email\n${id},Ada,a@x\n${id},Bob,b@x\n`)
    expect((await importUsers(place, people)).stdout).toMatch(/^created 1, updated 0, duplicate 1,/)
    expect(readFileSync(`${people}.report.txt`, 'utf8')).toBe(
      `line 3: duplicate: a user with id ${id} already exists\n`,
    )
  })

  test('of a file that breaks off stores what came before, says so, and exits 1', async () => {
    const place = at(sqlitePlace)
    const lines = Array.from({ length: 20_000 }, (_, i) => `Ada,ada-${i}@example.com\n`)
    const zipped = gzipSync(`name,email\n${lines.join('')}`)
    const { code, stdout, stderr } = await importUsers(
      place,
      file('people.csv.gz', zipped.subarray(0, -1_000)),
    )
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^unexpected end of file \(behind line \d+\)\n$/),
    ])
    const stored = (await usersAt(place)).length
    expect(stdout).toContain(`created ${stored.toLocaleString('en')},`)
    expect(stored).toBeGreaterThan(10_000)
  })

  test('of a user of more than 8 MB says so by the line', async () => {
    const place = at(sqlitePlace)
    const lines = [`${'€'.repeat(2_900_000)},a@x`, `${'€'.repeat(2_700_000)},b@x`, 'Cy,c@x']
    const people = file('people.csv', `name,email\n${lines.join('\n')}\n`)
    expect((await importUsers(place, people)).stdout).toMatch(/^created 2, .* refused 1;/)
    expect(readFileSync(`${people}.report.txt`, 'utf8')).toBe(
      'line 2: refused: it is longer than 8,388,608 bytes\n',
    )
  })

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 130],
  ] as const)(
    'that waits for its input is stopped by %s, and stores what it has',
    async (signal, code) => {
      const place = at(sqlitePlace)
      const importing = run('scripts/import-users', place, {}, ['--format', 'csv', '-'])
      importing.process.stdin!.write('name,email\nAda,a@x\nBob,b@x\n')
      while (!existsSync(databaseIn(place.dataDir))) await sleep(10)
      await sleep(500) // so that it has read, which nothing tells
      importing.process.kill(signal)
      expect(await importing.ended).toBe(code)
      expect(importing.output.stdout).toMatch(/^created 2,/)
      expect(await namesAt(place)).toEqual(['Ada', 'Bob'])
    },
  )

  const BAD = 'name,email\nAda,a@x\nBob\n'

  test('reports into the file that is asked for, and leaves no report of a former run', async () => {
    const place = at(sqlitePlace)
    const people = file('people.csv', BAD)
    const asked = join(folder(), 'asked.txt')
    await importUsers(place, '--report', asked, people)
    expect(readFileSync(asked, 'utf8')).toMatch(/^line 3: .*\n$/)
    expect(existsSync(`${people}.report.txt`)).toBe(false)
    await importUsers(place, people)
    expect(existsSync(`${people}.report.txt`)).toBe(true)
    file('people.csv', 'name,email\nEve,e@x\n')
    await importUsers(place, people)
    await importUsers(at(sqlitePlace), '--report', asked, people)
    expect(existsSync(`${people}.report.txt`)).toBe(false)
    expect(readFileSync(asked, 'utf8')).toBe('')
  })

  test('writes no report over what it reads', async () => {
    const people = file('people.csv', BAD)
    symlinkSync(people, join(folder(), 'link'))
    for (const asked of [people, join(folder(), 'link')]) {
      const { code, stderr } = await importUsers(at(sqlitePlace), '--report', asked, people)
      expect([code, stderr]).toEqual([1, `the report must not be ${asked}, which is read\n`])
    }
    expect(readFileSync(people, 'utf8')).toBe(BAD)
  })

  test('keeps the former report when it cannot begin', async () => {
    const people = file('people.csv', BAD)
    const report = file('people.csv.report.txt', 'of before')
    const place = { ...at(sqlitePlace), environment: { TOKEN_TTL: 'x' } }
    expect((await importUsers(place, people)).code).toBe(1)
    expect(readFileSync(report, 'utf8')).toBe('of before')
  })

  test('reports on standard error where no file can be written, and goes on', async () => {
    const people = file('people.csv', `${BAD}Cy,c@x\n`)
    mkdirSync(`${people}.report.txt`)
    const { code, stdout, stderr } = await importUsers(at(sqlitePlace), people)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^created 2, .* refused 1; [^;]*\n$/)])
    expect(stderr).toMatch(/^the report goes on here: EISDIR.*\nline 3: refused: .*\n$/)
  })

  test('that waits for a named pipe is stopped', async () => {
    const pipe = join(folder(), 'pipe.csv')
    execFileSync('mkfifo', [pipe])
    const place = at(sqlitePlace)
    const importing = run('scripts/import-users', place, {}, [pipe])
    const writer = await open(pipe, 'r+')
    await writer.write('name,email\nAda,a@x\n')
    while (!existsSync(databaseIn(place.dataDir))) await sleep(10)
    await sleep(500) // so that it has read, which nothing tells
    importing.process.kill('SIGINT')
    expect(await importing.ended).toBe(130)
    await writer.close()
    expect(await namesAt(place)).toEqual(['Ada'])
  })

  test('tries in DATA_DIR where nothing else can be written', async () => {
    const place = at(sqlitePlace)
    const people = file('people.csv', 'name,email\nAda,a@x\n')
    const environment = { ...place.environment, TMPDIR: '/nowhere' }
    const { code, stdout } = await importUsers({ ...place, environment }, '--dry-run', people)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^would be created 1,/)])
    expect(readdirSync(place.dataDir)).toEqual([])
  })

  test('reports on standard error of what is no file', async () => {
    const people = file('people.csv', BAD)
    const place = at(sqlitePlace)
    const program = fileURLToPath(new URL('../../dist/scripts/import-users.js', import.meta.url))
    const script = `"$0" "$1" --format csv <(cat "$2") 2>&1 >/dev/null`
    const args = ['-c', script, process.execPath, program, people]
    expect(runToEnd('bash', args, { env: { ...process.env, ...place.environment } })).toBe(
      'line 3: refused: it has 1 fields, the header has 2\n',
    )
  })
})

describe('export-users', () => {
  test('writes NDJSON to standard output', async () => {
    const place = at(sqlitePlace)
    await importUsers(place, file('people.csv', 'name,email\nAda,a@x\n'))
    const { stdout } = await exportUsers(place, '-')
    expect(stdout).toBe(`${JSON.stringify((await usersAt(place))[0])}\n`)
  })

  test('writes over no file, unless it is told to', async () => {
    const target = file('people.csv', 'mine')
    const place = at(sqlitePlace)
    await (await openStore(place)).close()
    const { code, stderr } = await exportUsers(place, target)
    expect([code, stderr]).toEqual([1, `${target} is there: --force writes over it\n`])
    expect(readFileSync(target, 'utf8')).toBe('mine')
    expect((await exportUsers(place, '--force', target)).code).toBe(0)
    expect(readFileSync(target, 'utf8')).toBe('id,name,email\r\n')
  })
})

describe('export-users', () => {
  test('writes to what is no file, and to what a link names, as it is', async () => {
    const place = at(sqlitePlace)
    await importUsers(place, file('people.csv', 'name,email\nAda,a@x\n'))
    const [device, target, link] = ['null.csv', 'target.csv', 'link.csv'].map((name) =>
      join(folder(), name),
    ) as [string, string, string]
    symlinkSync('/dev/null', device)
    file('target.csv', '')
    symlinkSync(target, link)
    expect((await exportUsers(place, device)).code).toBe(0)
    expect(lstatSync(device).isSymbolicLink()).toBe(true)
    expect((await exportUsers(place, '--force', link)).code).toBe(0)
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(readFileSync(target, 'utf8')).toMatch(/,Ada,a@x\r\n$/)
  })
})

describe.each(['import-users', 'export-users', 'create-user', 'backup'])('%s', (script) => {
  test('says how it is used when asked', async () => {
    const { code, stdout, stderr } = await done(script, at(sqlitePlace), ['--help'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^usage: /)
  })

  test.each([['--nonsense'], ['one', 'two', 'three']])(
    'refuses %s with its usage, and exit 2',
    async (...args) => {
      const { code, stdout, stderr } = await done(script, at(sqlitePlace), args)
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/^.+\nusage: /)
    },
  )
})

test.each([
  ['import-users', ['missing.csv'], 1, /^ENOENT/],
  ['import-users', ['people'], 2, /^--format is needed for people/],
  ['import-users', ['--encoding', 'x', 'people.csv'], 2, /^--encoding x is not known/],
  ['import-users', [], 2, /^one FILE is needed/],
  ['export-users', ['people.xlsx'], 2, /^--format is needed/],
  ['export-users', ['/dev/null/people.csv'], 1, /^ENOTDIR/],
])('%s %j exits %d: %s', async (script, args, code, message) => {
  const place = at(sqlitePlace)
  await (await openStore(place)).close()
  const ended = await done(script, place, args)
  expect([ended.code, ended.stdout]).toEqual([code, ''])
  expect(ended.stderr).toMatch(message)
})
