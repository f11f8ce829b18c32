// The process: its arguments, and what it says before it serves.
import { expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dist } from './support/program.ts'
import { root } from './support/readme.ts'

const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

const main = (...args: string[]) => {
  const options = { cwd: dist, encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const
  return spawnSync(process.execPath, ['src/main.js', ...args], options)
}

test('--version prints the version, and an unknown argument is refused by its name', () => {
  expect(main('--version')).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' })
  expect(main('--port=80')).toMatchObject({ status: 1, stderr: expect.stringContaining('--port') })
})

test.each(['--help', '-h'])('%s names every variable', (option) => {
  const { status, stdout } = main(option)
  expect(status).toBe(0)
  const names = [...readFileSync(`${root}.env.example`, 'utf8').matchAll(/^#? ?([A-Z_]+)=/gm)]
  expect(names.length).toBeGreaterThan(10)
  for (const [, name] of names) expect(stdout).toContain(name)
})

test('npm start without the compiler says how to compile, unless the service is compiled', () => {
  const folder = mkdtempSync(join(tmpdir(), 'users-service-'))
  copyFileSync(`${root}package.json`, join(folder, 'package.json'))
  const options = { encoding: 'utf8', cwd: folder } as const
  const compile = () => spawnSync('npm', ['run', '--silent', 'compile'], options)
  const stderr = expect.stringContaining('npm ci && npm run build && npm prune --omit=dev')
  expect(compile()).toMatchObject({ status: 1, stderr })
  mkdirSync(join(folder, 'dist/src'), { recursive: true })
  writeFileSync(join(folder, 'dist/src/main.js'), '')
  expect(compile()).toMatchObject({ status: 0 })
  rmSync(folder, { recursive: true })
})
