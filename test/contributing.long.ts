// Follows "How to add a field" in CONTRIBUTING.md, in a copy of the repository: users get a phone.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { etagOf } from '../src/preconditions.ts'
import { runToEnd } from './support/program.ts'
import { newFolder, root } from './support/readme.ts'

const ADA = { id: '665f1c2e8b3f4a0012d4c001', name: 'Ada Lovelace', email: 'ada@example.com' }
const PHONE = '        phone:\n          type: string\n          description: Any text.\n'

/** Each step: files, what to find in them, and what to put in its place. */
const STEPS: [string, RegExp, string][][] = [
  [
    ['openapi.yaml', /required: \[id, name, email/, '$&, phone'],
    ['openapi.yaml', / {10}description:.*(Unique among|not the email of).*\n/g, `$&${PHONE}`],
    ['openapi.yaml', /^( +)name: .*\n +email: .*@example.com$/gm, "$&\n$1phone: ''"],
  ],
  [
    ['src/users.ts', /\{ name, email(?= \}: components)/, '$&, phone'],
    ['src/users.ts', /email: text\(email\)/, '$&, phone: text(phone)'],
    ['src/store/sqlite/schema.ts', /email: 'TEXT UNIQUE',/, "$& phone: 'TEXT',"],
    ['src/store/mongo/documents.ts', /email(?= \} = BSON)/, '$&, phone'],
    ['src/store/mongo/documents.ts', /email: toText\(email\)/, '$&, phone: toText(phone)'],
    ['scripts/users/transfer/titles.ts', /id: 'id',/, "$& phone: 'phone, telephone',"],
    ['test/support/users.ts', /email: `.*,/, '$& phone: `555 ${count}`,'],
  ],
  [['src/store/sqlite/schema.ts', /'', \/\/.*/, "$&\n'ALTER TABLE users ADD COLUMN phone TEXT',"]],
  [
    ['openapi.yaml', /("id":"[^}]*)\}/g, '$1,"phone":""}'],
    ['openapi.yaml', RegExp(etagOf(ADA), 'g'), etagOf({ ...ADA, phone: '' })],
    ['README.md', /("id":"[^}]*)\}/g, '$1,"phone":""}'],
  ],
]

test('a field is added by the steps of CONTRIBUTING.md, and no test needs a change', () => {
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const steps = /## How to add a field\n(.*?)\n## /s.exec(page)![1]!.split(/^\d\. /m)
  const folder = newFolder()
  const copy = `git ls-files -co --exclude-standard | tar c -T - | tar x -C ${folder}`
  runToEnd('bash', ['-ec', `${copy}; ln -s $PWD/node_modules ${folder}`], { cwd: root })
  const run = (command: string) =>
    spawnSync('bash', ['-c', `${command} 2>&1`], { cwd: folder, encoding: 'utf8', maxBuffer: 1e9 })
      .stdout
  const filesFound = (pattern: RegExp, text: string) =>
    [...new Set([...text.matchAll(pattern)].map(([, file]) => file))].toSorted()
  // Types of packages behind a link cannot be named in a declaration, which this does not need.
  const compile = () => run('npx tsc --project test --declaration false')
  const failing = (tests: string) =>
    filesFound(/^FAIL (\S+)/gm, run(`npm test -- --maxWorkers=1 ${tests}`))
  const take = (step: number) => {
    for (const [file, found, replacement] of STEPS[step]!) {
      const text = readFileSync(join(folder, file), 'utf8')
      expect(text).toMatch(found)
      writeFileSync(join(folder, file), text.replace(found, replacement))
    }
  }

  take(0)
  expect(run('npm run generate')).toContain('openapi.yaml → src/contract/openapi.ts')
  const named = filesFound(/`([\w./-]+\.ts)`/g, steps[2]!)
  expect(filesFound(/^(\S+)\(.*error/gm, compile())).toEqual(named)
  take(1)
  expect(compile()).toBe('')
  expect(failing('test/store/sqlite/schema')).toEqual(['test/store/sqlite/schema.test.ts'])
  take(2)
  const documents = ['test/contract/examples.test.ts', 'test/readme.test.ts']
  const tests = 'test/(contract|login|readme|scripts|store|users)'
  expect(failing(`"${tests}" test/app.model`)).toEqual(documents)
  take(3)
  expect(run(`npm test -- ${documents.join(' ')}`)).toMatch(/^Tests: +(\d+ skipped, )?\d+ passed,/m)
}, 600_000)
