// Follows the guides in CONTRIBUTING.md, each in a copy of the repository.
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
  guide.change(FIELD[0]!)
  expect(guide.run('npm run generate')).toContain('openapi.yaml → src/openapi.ts')
  expect(filesWithErrors(guide.compile())).toEqual(guide.filesIn(2))
  guide.change(FIELD[1]!)
  expect(guide.compile()).toBe('')
  const documents = ['test/examples.test.ts', 'test/readme.test.ts']
  const tests =
    'test/(chassis/contract|examples|login|readme|scripts|store/(mongo/collection|sqlite|user)|users)'
  expect(guide.failing(`"${tests}" test/app.model`)).toEqual(documents)
  guide.change(FIELD[2]!)
  expect(guide.npmTest(documents.join(' '))).toMatch(PASSED)

  const users = ['555', '556'].map((phoneNumber) => ({ name: 'Ada', email: 'a@x', phoneNumber }))
  const [imported, other] = users.map((user) => `echo '${JSON.stringify(user)}' >users.ndjson`)
  const again = `${other}; npm run import-users -- --update users.ndjson`
  const output = guide.run(`export DATA_DIR=data; ${imported}; npm run import-users users.ndjson
    npm run export-users -- --format csv users.csv; npm run import-users users.csv; cat users.csv; ${again}`)
  expect(output).toContain('created 0, updated 0, unchanged 1, duplicate 0')
  expect(output).toMatch(/^id,name,email,phoneNumber\r\n\w+,Ada,a@x,555\r$/m)
  expect(output).toContain('created 0, updated 0, unchanged 0, duplicate 1') // --update changes only the name
}, 600_000)

const NAME =
  "        - { name: name, in: query, description: 'Such as `A B`.', schema: { type: string } }\n"

test('the compiler names what would lose a filter or a change, and refuses that an email changes', () => {
  const guide = followGuide('How to add a filter')
  const changeable = (field: string): Change => {
    const text = `$&        ${field}: { type: string, description: x }\n`
    return ['openapi.yaml', / {4}NewName:\n.*\n.*\n {6}properties:\n/, text]
  }
  guide.change([['openapi.yaml', / {8}- name: email\n {10}in: query/, `${NAME}$&`]])
  guide.change([changeable('phoneNumber')])
  expect(guide.run('npm run generate')).toContain('openapi.yaml → src/openapi.ts')
  const ofChanges = ['scripts/users/transfer/import.ts', 'test/support/model.ts']
  const named = [...guide.filesIn(2), ...ofChanges].toSorted()
  expect(filesWithErrors(guide.compile())).toEqual(named)
  guide.change([changeable('email')])
  guide.run('npm run generate')
  expect(guide.compile()).toMatch(
    /^src\/users\.ts.* is not assignable to parameter of type 'never'/m,
  )
}, 600_000)

const COUNT = `  /stats/users:
    get:
      operationId: countUsers
      tags: [users]
      summary: Count the users
      description: Count the users.
      security:
        - bearer: []
      responses:
        '200':
          description: The number.
          content:
            application/json:
              schema: { $ref: '#/components/schemas/Count' }
              examples: { none: { summary: no users, value: { count: 0 } } }
        '401': { $ref: '#/components/responses/Unauthorized' }
        '500': { $ref: '#/components/responses/InternalError' }
        default: { $ref: '#/components/responses/OtherError' }

`
const COUNT_SCHEMA = `    Count:
      type: object
      description: A number of users.
      required: [count]
      additionalProperties: true
      properties: { count: { type: integer, minimum: 0, maximum: 1000000000 } }
`
const SQLITE_COUNT =
  "await retryWhileBusy(() => db.prepare('SELECT count(*) AS count FROM users').get())"

/** `GET /stats/users` returns how many users there are. */
const OPERATION: Change[][] = [
  [
    ['openapi.yaml', '  /login:', `${COUNT}$&`],
    ['openapi.yaml', '    Token:\n', `${COUNT_SCHEMA}$&`],
  ],
  [
    [
      'src/users.ts',
      '    async renameUser(',
      '    async countUsers() { return { status: 200, body: { count: await store.count() } } },\n\n$&',
    ],
  ],
  [
    ['src/store/user-store.ts', '  find(id', '  count(): Promise<number>\n\n$&'],
    [
      'src/store/sqlite/store.ts',
      '    oldest:',
      `    count: async () => (${SQLITE_COUNT} as { count: number }).count,\n$&`,
    ],
    [
      'src/store/mongo/store.ts',
      '    oldest:',
      '    count: () => execute((users) => users.countDocuments()),\n$&',
    ],
    ['test/support/failing-store.ts', '    oldest:', '    count: fail,\n$&'],
  ],
  [['test/examples.test.ts', "  'login 200", "  'countUsers 200 none': ({ send }) => send(),\n$&"]],
]

test('an operation is added by the steps of CONTRIBUTING.md', () => {
  const guide = followGuide('How to add an operation')
  const [described, handler, stored, scripted] = OPERATION
  guide.change(described!)
  expect(guide.run('npm run generate')).toContain('openapi.yaml → src/openapi.ts')
  expect(filesWithErrors(guide.compile())).toEqual(guide.filesIn(1))
  guide.change(handler!)
  expect(guide.compile()).toContain("Property 'count' does not exist on type 'UserStore'")
  guide.change(stored!)
  expect(guide.compile()).toBe('')
  expect(guide.failing(ALL)).toEqual(['test/examples.test.ts'])
  guide.change(scripted!)
  expect(guide.npmTest('test/examples')).toMatch(PASSED)
}, 600_000)

/** Tests that could know how many operations there are. */
const ALL = '"test/(app.model|auth|client|chassis|errors|examples|readme|users)"'

const PASSED = /^Tests: +(\d+ skipped, )?\d+ passed,/m

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

  /** What a command prints. If it hangs, as Node may when it exits (nodejs/node#54918), it is run once more. */
  function run(command: string, seconds = 140, tries = 2): string {
    const limited = ['-s', 'KILL', `${seconds}`, 'bash', '-c', `${command} 2>&1`]
    const options = { cwd: folder, encoding: 'utf8', maxBuffer: 1e9 } as const
    const { signal, stdout } = spawnSync('timeout', limited, options)
    return signal && tries > 1 ? run(command, seconds, tries - 1) : stdout
  }
  const npmTest = (tests: string) => run(`npm test -- --maxWorkers=1 ${tests}`, 400)
  return {
    run,
    /** The files that a step names. */
    filesIn: (step: number) => filesFound(/`([\w./-]+\.ts)`/g, steps[step]!),
    // Types of packages behind a link cannot be named in a declaration, which this does not need.
    compile: () => run('npx tsc --project test --declaration false'),
    npmTest,
    /** The test files that fail. */
    failing: (tests: string) => filesFound(/^FAIL (\S+)/gm, npmTest(tests)),
    change(changes: Change[]): void {
      for (const [file, found, replacement] of changes) {
        const text = readFileSync(join(folder, file), 'utf8')
        expect(text).toMatch(found)
        writeFileSync(join(folder, file), text.replace(found, replacement))
      }
    },
  }
}

/** What the compiler or a test says: the files in which something is wrong. */
const filesWithErrors = (output: string) => filesFound(/^(\S+)\(.*error/gm, output)

const filesFound = (pattern: RegExp, text: string) =>
  [...new Set([...text.matchAll(pattern)].map(([, file]) => file!))].toSorted()
