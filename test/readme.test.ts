// What README.md tells people to type, typed: its commands, against the service, and its TypeScript, in
// an empty project that has nothing but the packed client.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { openStore } from '../src/store/open.ts'
import { CHROMIUM } from './support/chromium.ts'
import { killPrograms, runToEnd, serve } from './support/program.ts'
import { mongodbPlace, sqlitePlace } from './support/stores.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const place = sqlitePlace()
let url: string

/** Runs a program to its end. @returns what it printed */
function run(program: string, args: string[], cwd = root): string {
  const others = { MONGODB_URI: '', SIGNING_SECRET: '', npm_config_local_prefix: undefined }
  const env = { ...process.env, ...others, ...place.environment }
  return runToEnd(program, args, { cwd, env })
}

beforeAll(async () => {
  url = await serve(place).listening()
})
afterAll(async () => {
  await killPrograms()
  await place.remove()
})

/** A fenced block, and the one behind it if that is what it prints. */
interface Block {
  language: string
  code: string
  prints: string
}

const fences = [
  ...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms),
]
const blocks = fences.map(([, language = '', code = ''], i): Block => {
  const [, next = '', output = ''] = fences[i + 1] ?? []
  return { language, code, prints: /text|http/.test(next) ? output : '' }
})
const here = (code: string) => code.replaceAll('http://localhost:3000', url)

/** Text with its ids numbered as they appear, and without tokens, which are never twice the same. */
function comparable(text: string): string {
  const ids: string[] = []
  const numbered = text.replaceAll(/\b[0-9a-f]{24}\b/g, (id) => {
    if (!ids.includes(id)) ids.push(id)
    return `id-${ids.indexOf(id)}`
  })
  return numbered
    .replaceAll(/\beyJ[\w.-]+/g, 'token')
    .replaceAll('\r', '')
    .trim()
}

/** Fails unless `actual` is what the README shows; of an HTTP answer it may leave out headers. */
function expectPrinted(actual: string, { prints }: Block): void {
  const shown = comparable(prints).split('\n')
  const printed = comparable(actual).split('\n')
  const http = shown[0]!.startsWith('HTTP/')
  expect(http ? printed.filter((line) => shown.includes(line)) : printed).toEqual(shown)
}

const commands = blocks.filter(({ code }) => /\bcurl\b|npm run .*create-user/.test(code))

test.each(commands.map((block, i) => [block.code.split('\n')[0], block, i] as const))(
  '%s …',
  (_, block, i) => {
    const before = commands
      .slice(0, i)
      .flatMap(({ code }) => code.match(/^TOKEN=\$\([^]*?\)$/gm) ?? [])
    const script = here([...before, block.code].join('\n'))
    expectPrinted(run('bash', ['-euo', 'pipefail', '-c', script]), block)
  },
)

describe('in an empty project, from the tarball of npm pack,', () => {
  const project = mkdtempSync(join(tmpdir(), 'empty-project-'))
  afterAll(() => rmSync(project, { recursive: true }))

  beforeAll(() => {
    const tarball = run('npm', ['pack', '--silent', '--pack-destination', project]).trim()
    writeFileSync(join(project, 'package.json'), '{}')
    run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], project)
  }, 300_000)

  const write = (file: string, code: string) => writeFileSync(join(project, file), here(code))
  /** @returns what the compiler complains about */
  function compile(...args: string[]): string {
    try {
      const compiler = join(root, 'node_modules/typescript/bin/tsc')
      return run(process.execPath, [compiler, '--strict', ...args], project)
    } catch (error) {
      return (error as { stdout: string }).stdout
    }
  }

  test.each(blocks.filter(({ language }) => language === 'ts'))(
    'the TypeScript compiles strictly, and prints what README.md shows',
    (block) => {
      write('readme.mts', block.code)
      expect(compile('--target', 'es2022', '--module', 'nodenext', 'readme.mts')).toBe('')
      expectPrinted(run(process.execPath, ['readme.mjs'], project), block)
    },
  )

  test.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
    ['commonjs', 'node10'],
  ])('the client has its types, with module %s and moduleResolution %s', (module, resolution) => {
    write(
      'types.ts',
      `
      import { createUsersClient, type User } from 'users-service/client'
      const users = createUsersClient({ baseUrl: 'http://localhost:3000', email: 'ada@example.com' })
      export async function use(): Promise<User> {
        const params = { path: { id: 'x' } }
        const { data, error, response } = await users.GET('/users/{id}', { params })
        const status: number = response.status
        if (error) throw new Error(error.message + status)
        await users.PUT('/users/{id}', { params, body: { name: 'x' } })
        // @ts-expect-error -- there is no such path
        await users.GET('/user')
        // @ts-expect-error -- it needs an id
        await users.DELETE('/users/{id}')
        // @ts-expect-error -- it needs a name
        await users.PUT('/users/{id}', { params, body: {} })
        // @ts-expect-error -- a name is a string
        const name: number = data.name
        // @ts-expect-error -- it needs to know where the service is
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
        import { createUsersClient } from 'users-service/client'
        const users = createUsersClient({ baseUrl: location.origin, email: 'ada@example.com' })
        users.GET('/users').then(({ data }) => console.log('the first is ' + data?.[0]?.name))`,
      )
      const esbuild = join(root, 'node_modules/.bin/esbuild')
      return run(esbuild, ['browser.ts', '--bundle', '--minify', '--platform=browser'], project)
    }

    test('the client needs nothing of Node', () => expect(bundle().length).toBeLessThan(20_000))

    const testBrowser = existsSync(CHROMIUM) ? test : test.skip

    testBrowser('it logs in and lists the users', async () => {
      const browser = await chromium.launch({ executablePath: CHROMIUM })
      const page = await browser.newPage({ bypassCSP: true })
      await page.goto(`${url}/openapi.json`) // any page of the service's origin
      const said = page.waitForEvent('console', (line) => line.type() === 'log')
      await page.addScriptTag({ content: bundle() })
      expect((await said).text()).toBe('the first is Ada')
      await browser.close()
    })
  })
})

const testMongodb = process.env['MONGODB_URI'] ? test : test.skip

testMongodb('users move to MongoDB by what it says', async () => {
  const other = mongodbPlace()
  const folder = mkdtempSync(join(tmpdir(), 'users-service-'))
  const code = blocks.find(({ code }) => code.includes('npm run export-users'))!.code
  const script = code
    .replaceAll('users.ndjson', join(folder, 'users.ndjson'))
    .replace('mongodb://localhost:27017/users', () => other.mongodbUri!)
  run('npm', ['run', 'create-user', '--', '--name', 'Ada', '--email', 'moving@example.com'])
  run('bash', ['-euo', 'pipefail', '-c', script])
  const store = await openStore(other)
  expect(await store.findByEmail('moving@example.com')).toMatchObject({ name: 'Ada' })
  await store.close()
  await other.remove()
  rmSync(folder, { recursive: true })
})
