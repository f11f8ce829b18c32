// Runs the commands of README.md exactly as they are written, and the packed client in an empty project.
import { beforeAll, describe, expect, test } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { UNSET } from './support/program.ts'
import { clientExamples, firstCalls, newFolder, read, root, useReadme } from './support/readme.ts'

const { expectOutput, ...readme } = useReadme()

/** A copy of the repository in a new folder, as `git clone` makes it. */
function clone(): string {
  const folder = newFolder()
  const others = ['node_modules', 'dist', '.git', 'data', '.env']
  const filter = (path: string) => !others.includes(basename(path))
  fs.cpSync(root, folder, { recursive: true, filter })
  return folder
}

test('runs on a server without the compiler, as README.md says, until npm gets a signal', async () => {
  const folder = clone()
  const [commands] = /(?<=`)npm ci &&\s[^`]*npm prune[^`]*/.exec(read('README.md'))!
  readme.run('bash', ['-ec', commands], folder)
  expect(fs.existsSync(join(folder, 'node_modules/typescript'))).toBe(false)
  const env = { ...process.env, MONGODB_URI: '', PORT: '0', OPS_PORT: '0' }
  const service = spawn('npm', ['start'], { cwd: folder, env })
  let printed = ''
  service.stdout.on('data', (text: Buffer) => (printed += text))
  while (!printed.includes('no users yet') && service.exitCode === null) await sleep(20)
  service.kill('SIGTERM')
  await once(service, 'close')
  expect(printed).toContain(' npm run create-user -- --name Ada --email ada@example.com')
  expect(printed).toContain('"msg":"stopped"}')
}, 300_000)

test('npm run dev follows the page, TypeScript and the contract, keeps what runs when they do not compile, and leaves no process', async () => {
  const folder = clone()
  fs.symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const env = { ...process.env, ...UNSET, PORT: '0', OPS_PORT: '0' }
  const dev = spawn('npm', ['run', 'dev'], { cwd: folder, env, detached: true })
  let printed = ''
  for (const output of [dev.stdout, dev.stderr])
    output.on('data', (text: Buffer) => (printed += text))
  const prints = async (text: string) => {
    while (!printed.includes(text)) await sleep(50)
  }
  const change = async (name: string, old: string | RegExp, changed: string, output: string) => {
    printed = ''
    const file = join(folder, name)
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace(old, changed))
    await prints(output)
  }
  try {
    await prints('try it at')
    await change('src/chassis/docs/page.css', '#fff', '#eee', 'try it at')
    await change('openapi.yaml', /version: .*/, 'version: 9.9.9', 'users-service 9.9.9')
    await change('src/chassis/run.ts', 'try it at', 'see', 'see http')
    const [, url] = /see (http.*?)\/docs/.exec(printed)!
    await change('openapi.yaml', ': login', ': logIn', "Property 'logIn' is missing")
    expect((await fetch(`${url}/docs`)).status).toBe(200) // of the service that compiled
    await change('openapi.yaml', ': logIn', ': login', 'see http')
    dev.kill('SIGTERM')
    await once(dev, 'close', { signal: AbortSignal.timeout(60_000) })
    expect(spawnSync('kill', ['-0', '--', `-${dev.pid}`]).status).toBe(1) // its group is empty
  } finally {
    spawnSync('kill', ['-9', '--', `-${dev.pid}`])
  }
}, 300_000)

describe('in an empty project, the package of the client', () => {
  const project = newFolder()

  beforeAll(() => {
    const pack = ['pack', './dist/client', '--silent', '--pack-destination', project]
    const tarball = readme.run('npm', pack).trim()
    fs.writeFileSync(join(project, 'package.json'), '{}')
    const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball]
    readme.run('npm', install, project)
  }, 300_000)

  const write = (file: string, code: string) =>
    fs.writeFileSync(join(project, file), readme.here(code))

  const TODAY = [process.execPath, join(root, 'node_modules/typescript/bin/tsc')]
  /** The lowest that the README of the client names. */
  const LOWEST = ['npx', '--yes', '--package=typescript@4.9.5', 'tsc', '--skipLibCheck']

  /** @returns the errors of the compiler */
  function compile([program, ...compiler]: string[], ...args: string[]): string {
    try {
      return readme.run(program!, [...compiler, '--strict', '--target', 'es2022', ...args], project)
    } catch (error) {
      return (error as { stdout: string }).stdout
    }
  }

  test('runs the examples of README.md and of its own, which compile strictly', () => {
    for (const { code } of firstCalls) readme.bash(readme.here(code))
    const [example, own] = clientExamples
    write('readme.mts', example!.code)
    write('own.mts', own!.code)
    const args = ['--module', 'nodenext', 'readme.mts', 'own.mts']
    expect(compile(LOWEST, ...args) + compile(TODAY, ...args)).toBe('')
    expectOutput(readme.run(process.execPath, ['readme.mjs'], project), example!)
    expect(readme.run(process.execPath, ['own.mjs'], project)).toMatch(/^1 user\nAda <ada@/)
  })

  test('has its types for bundlers and for older compilers, and imports nothing that a browser does not have', () => {
    const code = `
      import { createUsersClient } from 'users-service-client'
      const users = createUsersClient({ baseUrl: '/api' })
      // @ts-expect-error -- a name is a string
      users.GET('/users').then(({ data }): number => data![0]!.name)`
    write('types.ts', code)
    for (const [module, resolution] of [
      ['esnext', 'bundler'],
      ['commonjs', 'node10'],
    ]) {
      const args = ['--module', module!, '--moduleResolution', resolution!]
      expect(compile(TODAY, '--noEmit', ...args, 'types.ts')).toBe('')
    }
    const args = ['types.ts', '--bundle', '--platform=browser']
    expect(readme.run(join(root, 'node_modules/.bin/esbuild'), args, project)).toContain('fetch')
  })
})
