// Runs the commands of README.md exactly as they are written, and the packed client in an empty project.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { chromium } from 'playwright-core'
import { CHROMIUM } from './support/chromium.ts'
import {
  blocks,
  clientExample,
  expectOutput,
  firstCalls,
  root,
  useReadme,
} from './support/readme.ts'

const readme = useReadme()

test.each(firstCalls)('prints what README.md shows: $title', (block) => {
  expectOutput(readme.bash(readme.here(block.code)), block)
})

test('runs on a server without the compiler, as README.md says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'server-'))
  const filter = (path: string) =>
    !['node_modules', 'dist', '.git', 'data'].includes(basename(path))
  cpSync(root, folder, { recursive: true, filter })
  const commands = blocks[0]!.code.split('\n').find((line) => line.includes('npm prune'))!
  readme.run('bash', ['-ec', commands], folder)
  expect(existsSync(join(folder, 'node_modules/typescript'))).toBe(false)
  const env = { ...process.env, MONGODB_URI: '', PORT: '0', OPS_PORT: '0' }
  const service = spawn('npm', ['start'], { cwd: folder, env, detached: true })
  let printed = ''
  for await (const text of service.stdout) if (/listening on/.test((printed += text))) break
  process.kill(-service.pid!)
  await once(service, 'close')
  expect(printed).toContain('listening on')
  rmSync(folder, { recursive: true })
}, 300_000)

describe('in an empty project, the package of the client', () => {
  const project = mkdtempSync(join(tmpdir(), 'empty-project-'))
  afterAll(() => rmSync(project, { recursive: true }))

  beforeAll(() => {
    const pack = ['pack', './dist/client', '--silent', '--pack-destination', project]
    const tarball = readme.run('npm', pack).trim()
    writeFileSync(join(project, 'package.json'), '{}')
    const install = ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball]
    readme.run('npm', install, project)
  }, 300_000)

  const write = (file: string, code: string) =>
    writeFileSync(join(project, file), readme.here(code))

  test('brings openapi-fetch and nothing else', () => {
    const names = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))
    expect(names).toEqual(['openapi-fetch', 'openapi-typescript-helpers', 'users-service-client'])
  })

  test('says that a browser needs the origin of the service', () => {
    const file = join(project, 'node_modules/users-service-client/README.md')
    expect(readFileSync(file, 'utf8')).toMatch(/a browser, the page and the service must share\s/)
  })

  /** @returns the errors of the compiler */
  function compile(...args: string[]): string {
    try {
      const compiler = join(root, 'node_modules/typescript/bin/tsc')
      return readme.run(process.execPath, [compiler, '--strict', ...args], project)
    } catch (error) {
      return (error as { stdout: string }).stdout
    }
  }

  test('runs the example of README.md, which compiles strictly', () => {
    write('readme.mts', clientExample.code)
    expect(compile('--target', 'es2022', '--module', 'nodenext', 'readme.mts')).toBe('')
    expectOutput(readme.run(process.execPath, ['readme.mjs'], project), clientExample)
  })

  test.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
    ['commonjs', 'node10'],
  ])('has its types with module %s and moduleResolution %s', (module, resolution) => {
    write(
      'types.ts',
      `
      import { createUsersClient, type User } from 'users-service-client'
      const users = createUsersClient({ baseUrl: 'http://localhost:3000', email: 'ada@example.com' })
      export async function use(): Promise<User> {
        const params = { path: { id: 'x' } }
        const { data, error, response } = await users.GET('/users/{id}', { params })
        const status: number = response.status
        if (error) throw new Error(error.message + status)
        await users.PUT('/users/{id}', { params, body: { name: 'x' } })
        // @ts-expect-error -- this path does not exist
        await users.GET('/user')
        // @ts-expect-error -- the id is missing
        await users.DELETE('/users/{id}')
        // @ts-expect-error -- the name is missing
        await users.PUT('/users/{id}', { params, body: {} })
        // @ts-expect-error -- a name is a string
        const name: number = data.name
        // @ts-expect-error -- the address of the service is missing
        createUsersClient({})
        return { ...data, name: String(name) }
      }`,
    )
    const args = ['--noEmit', '--target', 'es2022', '--module', module]
    expect(compile(...args, '--moduleResolution', resolution, 'types.ts')).toBe('')
  })

  describe('bundled for a browser,', () => {
    const bundle = () => {
      write(
        'browser.ts',
        `
        import { createUsersClient } from 'users-service-client'
        const users = createUsersClient({ baseUrl: location.origin, email: 'ada@example.com' })
        users.GET('/users').then(({ data }) => console.log('the first is ' + data?.[0]?.name))`,
      )
      const esbuild = join(root, 'node_modules/.bin/esbuild')
      const args = ['browser.ts', '--bundle', '--minify', '--platform=browser']
      return readme.run(esbuild, args, project)
    }

    test('needs nothing from Node', () => expect(bundle().length).toBeLessThan(20_000))

    const testBrowser = existsSync(CHROMIUM) ? test : test.skip

    testBrowser('logs in and lists the users', async () => {
      const browser = await chromium.launch({ executablePath: CHROMIUM })
      const page = await browser.newPage({ bypassCSP: true })
      await page.goto(`${readme.url()}/openapi.json`) // any page of the origin of the service
      const printed = page.waitForEvent('console', (line) => line.type() === 'log')
      await page.addScriptTag({ content: bundle() })
      expect((await printed).text()).toBe('the first is Ada')
      await browser.close()
    })
  })
})
