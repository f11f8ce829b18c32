// The process: its arguments, and what it says before it serves.
import { afterAll, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

const main = (...args: string[]) => {
  const options = { encoding: 'utf8', env: { PATH: process.env['PATH'] } } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, ['dist/src/main.js', ...args], {
    ...options,
    cwd: root,
  })
  return { status, stdout, stderr }
}

test('--version prints the version', () => {
  expect(main('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
})

test.each(['--help', '-h'])('%s names every variable', (option) => {
  const { status, stdout } = main(option)
  expect(status).toBe(0)
  const names = [...readFileSync(`${root}.env.example`, 'utf8').matchAll(/^#? ?([A-Z_]+)=/gm)]
  expect(names.length).toBeGreaterThan(10)
  for (const [, name] of names) expect(stdout).toContain(name)
})

test('a service that cannot load what reads bodies ends', () => {
  const folder = mkdtempSync(join(tmpdir(), 'users-service-'))
  const hook = `export const resolve = (name, context, next) => {
    if (name === 'koa-bodyparser') throw new Error('koa-bodyparser is gone')
    return next(name, context)
  }`
  const register = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hook))})`
  const args = ['--no-warnings', '--import', dataUrl(register), 'dist/src/main.js']
  const env = { DATA_DIR: folder, PORT: '0', OPS_PORT: '0' }
  const options = { cwd: root, env, encoding: 'utf8', timeout: 20_000 } as const
  const { status, stderr } = spawnSync(process.execPath, args, options)
  rmSync(folder, { recursive: true })
  expect({ status, stderr }).toEqual({ status: 1, stderr: 'koa-bodyparser is gone\n' })
})

const dataUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`

describe('npm start without the compiler', () => {
  const folder = mkdtempSync(join(tmpdir(), 'users-service-'))
  copyFileSync(`${root}package.json`, join(folder, 'package.json'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const compile = () => {
    const options = { encoding: 'utf8', cwd: folder } as const
    const { status, stderr } = spawnSync('npm', ['run', '--silent', 'compile'], options)
    return { status, stderr }
  }

  test('says how to compile', () => {
    const stderr = expect.stringContaining('npm ci && npm run build && npm prune --omit=dev')
    expect(compile()).toEqual({ status: 1, stderr })
  })

  test('needs none when the service is compiled', () => {
    mkdirSync(join(folder, 'dist/src'), { recursive: true })
    writeFileSync(join(folder, 'dist/src/main.js'), '')
    expect(compile()).toMatchObject({ status: 0 })
  })
})

test('an unknown argument is refused by its name', () => {
  expect(main('--port=80')).toMatchObject({ status: 1, stderr: expect.stringContaining('--port') })
})
