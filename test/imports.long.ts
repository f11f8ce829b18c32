// Imports go one way (CONTRIBUTING.md), and a new file may import from another folder only what a rule allows.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { newFolder, root } from './support/readme.ts'

const REFUSED = [
  'src/new.ts imports ./main.ts',
  'src/new/file.ts imports ../config.ts',
  'src/store/new.ts imports ../errors.ts',
  'src/store/mongo/new.ts imports ../../chassis/batch.ts',
  'src/users.ts imports ./chassis/http/http-error.ts',
  'src/main.ts imports ./chassis/programs.ts',
  'src/chassis/new.ts imports ../users.ts',
  'src/chassis/new.ts imports ./index.ts',
  'src/chassis/new/file.ts imports ../app.ts',
  'src/chassis/contract/new.ts imports ../telemetry/log.ts',
  'scripts/users/new.ts imports ../../src/chassis/config.ts',
  'scripts/users/transfer/new.ts imports ../../../test/support/users.ts',
  'test/new.ts imports ../src/chassis/config.ts',
  'test/chassis/new.ts imports ../../src/users.ts',
  'test/chassis/http/new.ts imports ../../support/service.ts',
]

const ALLOWED = [
  'src/new/file.ts imports ./other.ts',
  'src/store/new/file.ts imports ../user-store.ts',
]

test('oxlint refuses every import that no rule allows, and no other', () => {
  const folder = newFolder()
  cpSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
  for (const line of [...REFUSED, ...ALLOWED]) {
    const [path, imported] = line.split(' imports ') as [string, string]
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    appendFileSync(file, `import '${imported}'\n`)
  }
  const oxlint = join(root, 'node_modules/.bin/oxlint')
  const { stdout } = spawnSync(oxlint, ['--format=unix'], { cwd: folder, encoding: 'utf8' })
  const found = stdout.matchAll(/^(\S+?):.* '(.*)' import is restricted/gm)
  const refused = [...found].map(([, path, imported]) => `${path} imports ${imported}`)
  expect(refused.sort()).toEqual(REFUSED.toSorted())
})

test('the chassis says nothing of users', () => {
  const args = ['-rniE', 'user|email|login', 'src/chassis', '--exclude=README.md'] // whose Dockerfile has a USER
  const { status, stdout } = spawnSync('grep', args, { cwd: root, encoding: 'utf8' })
  const lines = stdout.split('\n').filter((line) => line && !/email['`,:]/.test(line)) // the format `email`
  expect([status, lines]).toEqual([0, []]) // 2 would mean that the folder is not there
})
