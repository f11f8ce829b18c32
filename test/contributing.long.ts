// Follows the guides for fields and filters in CONTRIBUTING.md, each in a copy of the repository.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { etagOf } from '../src/chassis/index.ts'
import { runToEnd } from './support/program.ts'
import { newFolder, read, root } from './support/readme.ts'

/** A change: a file, what to find in it, and what to put in its place. */
type Change = [string, string | RegExp, string]

const ADA = { id: '665f1c2e8b3f4a0012d4c001', name: 'Ada Lovelace', email: 'ada@example.com' }
const PHONE = '        phoneNumber:\n          type: string\n          description: Any text.\n'

/** Users get a phone number. */
const FIELD: Change[][] = [
  [
    ['openapi.yaml', /required: \[id, name, email/, '$&, phoneNumber'],
    ['openapi.yaml', / {10}description:.*(Unique|Not the email of).*\n/g, `$&${PHONE}`],
    ['openapi.yaml', /^( +)name: .*\n +email: .*@example.com$/gm, "$&\n$1phoneNumber: ''"],
  ],
  [
    ['src/users.ts', /\{ name, email(?= \}: components)/, '$&, phoneNumber'],
    ['src/users.ts', /email: text\(email\)/, '$&, phoneNumber: text(phoneNumber)'],
    ['src/store/sqlite/schema.ts', /email: 'TEXT UNIQUE',/, "$& phoneNumber: 'TEXT',"],
    ['src/store/mongo/documents.ts', /email: text/, '$&, phoneNumber: text'],
    [
      'src/store/mongo/documents.ts',
      /email: read\('email'\)/,
      "$&, phoneNumber: read('phoneNumber')",
    ],
    [
      'scripts/users/import-users.ts',
      /email: \{ type: 'string' \},/,
      "$& phoneNumber: { type: 'string' },",
    ],
    ['test/support/users.ts', /email: `.*,/, '$& phoneNumber: `555 ${count}`,'],
  ],
  [
    ['openapi.yaml', /("id":"[^}]*)\}/g, '$1,"phoneNumber":""}'],
    ['openapi.yaml', RegExp(etagOf(ADA), 'g'), etagOf({ ...ADA, phoneNumber: '' })],
    ['README.md', /("id":"[^}]*)\}/g, '$1,"phoneNumber":""}'],
  ],
]

test('a field is added by the steps of CONTRIBUTING.md, and no test needs a change', () => {
  const guide = followGuide('How to add a field')
  expect(guide.describe(FIELD[0]!)).toEqual(guide.filesIn(2))
  guide.change(FIELD[1]!)
  expect(guide.compile()).toBe('')
  guide.change(FIELD[2]!)
  const tested = guide.run('npm test -- --maxWorkers=1 test/examples test/readme', 400)
  expect(tested).toMatch(/^Tests: +(\d+ skipped, )?\d+ passed,/m)
}, 600_000)

const NAME =
  "        - { name: name, in: query, description: 'Such as `A B`.', schema: { type: string } }\n"
const NICKNAME = '        nickname: { type: string, description: x }\n'
/** Users are listed by name, and can change a nickname. */
const FILTER: Change[] = [
  ['openapi.yaml', / {8}- name: email\n {10}in: query/, `${NAME}$&`],
  ['openapi.yaml', / {4}NewName:\n.*\n.*\n {6}properties:\n/, `$&${NICKNAME}`],
]
const OF_CHANGES = ['scripts/users/transfer/import.ts', 'test/support/model.ts']

test('the compiler names what would lose a filter or a change', () => {
  const guide = followGuide('How to add a filter')
  expect(guide.describe(FILTER)).toEqual([...guide.filesIn(2), ...OF_CHANGES].toSorted())
}, 600_000)

/** @param title the guide's */
function followGuide(title: string) {
  const page = read('CONTRIBUTING.md')
  const steps = page
    .split(`## ${title}\n`)[1]!
    .split('\n## ')[0]!
    .split(/^\d\. /m)
  const folder = newFolder()
  const copy = `git ls-files -co --exclude-standard | tar c -T - | tar x -C ${folder}`
  runToEnd('bash', ['-ec', `${copy}; ln -s $PWD/node_modules ${folder}`], { cwd: root })

  /** What a command prints, also if it hangs when it exits, as Node may (nodejs/node#54918). */
  function run(command: string, seconds = 140): string {
    const limited = ['-s', 'KILL', `${seconds}`, 'bash', '-c', `${command} 2>&1`]
    return spawnSync('timeout', limited, { cwd: folder, encoding: 'utf8', maxBuffer: 1e9 }).stdout
  }
  // Types of packages behind a link cannot be named in a declaration, which this does not need.
  const compile = () => run('npx tsc --project test --declaration false')
  function change(changes: Change[]): void {
    for (const [file, found, replacement] of changes) {
      const text = readFileSync(join(folder, file), 'utf8')
      expect(text).toMatch(found)
      writeFileSync(join(folder, file), text.replace(found, replacement))
    }
  }
  return {
    run,
    compile,
    change,
    /** The files that a step names. */
    filesIn: (step: number) => filesFound(/`([\w./-]+\.ts)`/g, steps[step]!),
    /** Changes the contract. @returns the files in which the compiler then finds an error */
    describe(changes: Change[]): string[] {
      change(changes)
      expect(run('npm run generate')).toContain('openapi.yaml → src/openapi.ts')
      return filesFound(/^(\S+)\(.*error/gm, compile())
    },
  }
}

const filesFound = (pattern: RegExp, text: string) =>
  [...new Set([...text.matchAll(pattern)].map(([, file]) => file!))].toSorted()
