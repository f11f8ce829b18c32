// The process: its arguments, and how it is compiled.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dist } from './support/program.ts'
import { copyBuilt, newFolder, root } from './support/readme.ts'

const main = (...args: string[]) => {
  const options = { cwd: dist, encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const
  return spawnSync(process.execPath, ['src/main.js', ...args], options)
}

test('an argument is refused by its name', () => {
  expect(main('--port=80')).toMatchObject({ status: 1, stderr: expect.stringContaining('--port') })
})

test('a contract that cannot be used is named in one line, with exit code 1', () => {
  const cwd = copyBuilt()
  const file = join(cwd, 'openapi.yaml')
  const env = { PATH: process.env['PATH'] }
  const said = expect.stringMatching(RegExp(`^cannot use ${file}: .+\\n$`))
  for (const text of ['', 'info: [', 'info: {}', 'info: { title: x }\nx: { $ref: "#/nowhere" }']) {
    if (text) writeFileSync(file, text) // at first there is none
    const main = spawnSync(process.execPath, ['dist/src/main.js'], { cwd, encoding: 'utf8', env })
    expect([text, main.status, main.stderr]).toEqual([text, 1, said])
  }
})

test.each(['test', 'check'])('without packages, npm run %s says npm ci', (script) => {
  const cwd = newFolder()
  copyFileSync(join(root, 'package.json'), join(cwd, 'package.json'))
  const said = expect.stringContaining('Run: npm ci\n')
  const ended = spawnSync('npm', ['run', script], { cwd, encoding: 'utf8' })
  expect(ended).toMatchObject({ status: 1, stderr: said })
})

test('a program compiles if a source is newer than its output; without the compiler, there must be an output; without packages, it says npm ci', () => {
  const cwd = newFolder()
  const build = 'mkdir -p dist/src && touch dist/src/main.js dist/.built && echo built'
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ scripts: { build } }))
  const compileAfter = (change: string) =>
    spawnSync('sh', ['-c', `${change}; . ${root}scripts/build/compile.sh`], {
      cwd,
      encoding: 'utf8',
    })
  const files = 'src/a.ts openapi.yaml tsconfig.json node_modules/.package-lock.json'
  const uncompiled = compileAfter(`mkdir -p src scripts node_modules/.bin; touch ${files}`)
  const missing = { status: 1, stderr: expect.stringContaining('Run: npm ci\n') }
  expect(uncompiled).toMatchObject(missing)
  for (const [change, stdout] of [
    ['ln -s /bin/sh node_modules/.bin/tsc', 'built\n'],
    [':', ''],
    ['touch openapi.yaml', 'built\n'],
    ['rm src/a.ts', 'built\n'],
    ['touch src/b.ts; rm -r node_modules/.bin', ''],
  ])
    expect([change, compileAfter(change!)]).toMatchObject([change, { status: 0, stdout }])
  expect(compileAfter('rm -r node_modules')).toMatchObject(missing)
})
