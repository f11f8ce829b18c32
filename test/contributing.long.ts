// Follows the guides in CONTRIBUTING.md, each in a copy of the repository.
import { expect, test } from '@jest/globals'
import { etagOf } from '../src/preconditions.ts'
import { filesWithErrors, followGuide, type Change } from './support/guide.ts'

const ADA = { id: '665f1c2e8b3f4a0012d4c001', name: 'Ada Lovelace', email: 'ada@example.com' }
const PHONE = '        phone:\n          type: string\n          description: Any text.\n'

/** Users get a phone. */
const FIELD: Change[][] = [
  [
    ['openapi.yaml', /required: \[id, name, email/, '$&, phone'],
    ['openapi.yaml', / {10}description:.*(Unique|Not the email of).*\n/g, `$&${PHONE}`],
    ['openapi.yaml', /^( +)name: .*\n +email: .*@example.com$/gm, "$&\n$1phone: ''"],
  ],
  [
    ['src/users.ts', /\{ name, email(?= \}: components)/, '$&, phone'],
    ['src/users.ts', /email: text\(email\)/, '$&, phone: text(phone)'],
    ['src/store/sqlite/schema.ts', /email: 'TEXT UNIQUE',/, "$& phone: 'TEXT',"],
    ['src/store/mongo/documents.ts', /email: 1/, '$&, phone: 1'],
    ['src/store/mongo/documents.ts', /email: text\('email'\)/, "$&, phone: text('phone')"],
    ['test/support/users.ts', /email: `.*,/, '$& phone: `555 ${count}`,'],
  ],
  [['src/store/sqlite/schema.ts', 'string[] = [', "$&'ALTER TABLE users ADD COLUMN phone TEXT'"]],
  [
    ['openapi.yaml', /("id":"[^}]*)\}/g, '$1,"phone":""}'],
    ['openapi.yaml', RegExp(etagOf(ADA), 'g'), etagOf({ ...ADA, phone: '' })],
    ['README.md', /("id":"[^}]*)\}/g, '$1,"phone":""}'],
  ],
]

test('a field is added by the steps of CONTRIBUTING.md, and no test needs a change', () => {
  const guide = followGuide('How to add a field')
  guide.change(FIELD[0]!)
  expect(guide.run('npm run generate')).toContain('openapi.yaml → src/contract/openapi.ts')
  expect(filesWithErrors(guide.compile())).toEqual(guide.filesIn(2))
  guide.change(FIELD[1]!)
  expect(guide.compile()).toBe('')
  expect(guide.failing('test/store/sqlite/schema')).toEqual(['test/store/sqlite/schema.test.ts'])
  guide.change(FIELD[2]!)
  const documents = ['test/contract/examples.test.ts', 'test/readme.test.ts']
  const tests = 'test/(contract|login|readme|scripts|store/(mongo/collection|sqlite|user)|users)'
  expect(guide.failing(`"${tests}" test/app.model`)).toEqual(documents)
  guide.change(FIELD[3]!)
  expect(guide.npmTest(documents.join(' '))).toMatch(PASSED)

  const users = ['555', '\ud800', ''].map((phone, i) => ({ name: 'Ada', email: `${i}@x`, phone }))
  const lines = users.map((user) => `'${JSON.stringify(user)}'`).join(' ')
  const imported = `printf '%s\\n' ${lines} > users.ndjson; npm run import-users users.ndjson`
  expect(guide.run(`export DATA_DIR=data; ${imported}`)).toMatch(
    /line 2: field `phone` must not contain a lone surrogate\n.*created 2,.* refused 1/s,
  )
  const exported = guide.run('DATA_DIR=data npm run export-users -- --format csv -')
  expect(exported).toMatch(/\bid,name,email,phone\r\n\w+,Ada,0@x,555\r\n\w+,Ada,2@x,\r\n/)
}, 600_000)

const PASSED = /^Tests: +(\d+ skipped, )?\d+ passed,/m

/** An operation of the contract with a 200 that has this content, and these responses. */
function operation(id: string, summary: string, content: string, responses: string): string {
  return `
    get:
      operationId: ${id}
      tags: [users]
      summary: ${summary}
      description: ${summary}.
      security:
        - bearer: []
      responses:
        '200':
          description: ${summary}.
          content:
            ${content}
        '401': { $ref: '#/components/responses/Unauthorized' }
        '500': { $ref: '#/components/responses/InternalError' }
        default: { $ref: '#/components/responses/OtherError' }${responses}

`
}

const COUNT = `application/json:
              schema: { $ref: '#/components/schemas/Count' }
              examples: { none: { summary: no users, value: { count: 0 } } }`
const COUNT_SCHEMA = `    Count:
      type: object
      description: A number of users.
      required: [count]
      additionalProperties: true
      properties: { count: { type: integer, format: int32 } }
`

const PNG = 'image/png:\n              schema: { type: string, format: binary }'
const NO_USER = "\n        '404': { $ref: '#/components/responses/UserNotFound' }"
const ITEM = "\n    parameters:\n      - $ref: '#/components/parameters/id'"

/** `GET /stats/users` returns how many users there are, and `GET /users/{id}/avatar` an image. */
const OPERATIONS: Change[][] = [
  [
    [
      'openapi.yaml',
      '  /login:',
      `  /stats/users:${operation('countUsers', 'Count the users', COUNT, '')}$&`,
    ],
    ['openapi.yaml', '    Token:\n', `${COUNT_SCHEMA}$&`],
    [
      'openapi.yaml',
      '  /login:',
      `  /users/{id}/avatar:${ITEM}${operation('readAvatar', 'Read the picture of a user', PNG, NO_USER)}$&`,
    ],
  ],
  [
    [
      'src/users.ts',
      '    async renameUser(',
      '    async countUsers() { return { status: 200, body: { count: await store.count() } } },\n\n$&',
    ],
    [
      'src/users.ts',
      '    async renameUser(',
      `    async readAvatar({ path: { id } }) {
      if (!(await store.find(id))) throw USER_NOT_FOUND
      return { status: 200, body: Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNiAAAABgADNjd8qAAAAABJRU5ErkJggg==', 'base64') }
    },\n\n$&`,
    ],
  ],
  [
    ['src/store/user-store.ts', '  isEmpty(', '  count(): Promise<number>\n\n$&'],
    [
      'src/store/sqlite/store.ts',
      '    isEmpty:',
      "    count: async () => (await retryWhileBusy(() => db.prepare('SELECT count(*) AS count FROM users').get()) as { count: number }).count,\n$&",
    ],
    [
      'src/store/mongo/store.ts',
      '    isEmpty:',
      '    count: () => execute((users) => users.countDocuments()),\n$&',
    ],
    ['test/support/failing-store.ts', '    isEmpty:', '    count: fail,\n$&'],
  ],
  [
    [
      'test/contract/handlers.types.ts',
      '  deleteUser: () =>',
      "  countUsers: () => ({ status: 200, body: { count: 0 } }),\n  readAvatar: () => ({ status: 200, body: '' }),\n$&",
    ],
    [
      'test/support/operations.ts',
      '  login: ',
      "  countUsers: (users) => users.GET('/stats/users'),\n  readAvatar: (users) => users.GET('/users/{id}/avatar', { params, parseAs: 'arrayBuffer' }),\n$&",
    ],
  ],
  [
    [
      'test/contract/examples.test.ts',
      "  'login 200",
      "  'countUsers 200 none': ({ send }) => send(),\n  'readAvatar 200': withAda(),\n$&",
    ],
  ],
]

test('operations are added by the steps of CONTRIBUTING.md', () => {
  const guide = followGuide('How to add an operation')
  const [described, handler, stored, tested, scripted] = OPERATIONS
  guide.change(described!)
  expect(guide.run('npm run generate')).toContain('openapi.yaml → src/contract/openapi.ts')
  expect(filesWithErrors(guide.compile())).toEqual(
    guide.filesIn(1).filter((one) => !/openapi/.test(one)),
  )
  guide.change(handler!)
  expect(guide.compile()).toContain("Property 'count' does not exist on type 'UserStore'")
  guide.change(stored!)
  guide.change(tested!)
  expect(guide.compile()).toBe('')
  expect(guide.failing(ALL)).toEqual(['test/contract/examples.test.ts'])
  guide.change(scripted!)
  expect(guide.npmTest('test/contract/examples')).toMatch(PASSED)
}, 600_000)

/** Tests that could know how many operations there are. */
const ALL =
  '"test/(app.model|auth|client|contract|docs|errors|readme|telemetry/(log|metrics|request)|users)"'
