// Imports go one way (CONTRIBUTING.md), and a new file may import from another folder only what a rule allows.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { newFolder, root } from './support/readme.ts'

const REFUSED = [
  'new.ts imports ./main.ts',
  'new.ts imports ../scripts/users/program.ts',
  'new/file.ts imports ../config.ts',
  'http/new/file.ts imports ../../users.ts',
  'contract/new.ts imports ../users.ts',
  'store/new.ts imports ../http/http-error.ts',
  'users.ts imports ./app.ts',
  'service.ts imports ./main.ts',
]

const ALLOWED = [
  'new.ts imports node:fs',
  'new/file.ts imports ./other.ts',
  'store/new/file.ts imports ../user-store.ts',
  'users.ts imports ./preconditions.ts',
]

test('oxlint refuses every import that no rule allows, and no other', () => {
  const folder = newFolder()
  cpSync(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'))
  for (const line of [...REFUSED, ...ALLOWED]) {
    const [path, imported] = line.split(' imports ') as [string, string]
    const file = join(folder, 'src', path)
    mkdirSync(dirname(file), { recursive: true })
    appendFileSync(file, `import '${imported}'\n`)
  }
  const oxlint = join(root, 'node_modules/.bin/oxlint')
  const { stdout } = spawnSync(oxlint, ['--format=unix'], { cwd: folder, encoding: 'utf8' })
  const found = stdout.matchAll(/^src\/(.*?):.* '(.*)' import is restricted/gm)
  const refused = [...found].map(([, path, imported]) => `${path} imports ${imported}`)
  expect(refused.sort()).toEqual(REFUSED.toSorted())
})

test('what another service can take over as it is mentions no user', () => {
  const rooms = ['http', 'contract', 'telemetry', 'ops', 'docs', 'auth/tokens.ts']
  const options = { cwd: join(root, 'src'), encoding: 'utf8' } as const
  const args = [
    '--recursive',
    '--ignore-case',
    '-e',
    'user',
    '-e',
    'users',
    ...rooms,
    '--exclude=openapi.ts',
  ]
  const { status, stdout } = spawnSync('grep', args, options)
  expect([status, stdout]).toEqual([1, '']) // 2 would mean that a file is not there
})
