// The package, from README.md of the chassis: a service of notes in an empty folder.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { build } from 'esbuild'
import { spawn, type ChildProcess } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bash, files, makeService, scripts, version } from './support/package.ts'

let folder: string
let service: ChildProcess
let log: string
/** Where, as the log says, the service listens, or other things are. */
const urlOf = (what = 'listening') => RegExp(`${what}\\b.* on (http[^"]*)`).exec(log)?.[1]

/** Runs a program of the service. */
async function run(program: string) {
  log = ''
  const variables = { PORT: '0', OPS_PORT: '0', NOTES_KEYS: 'ada-12345678,eve-12345678' }
  const env = { PATH: process.env['PATH'], ...variables }
  service = spawn(process.execPath, [program], { cwd: folder, env, stdio: 'pipe' })
  service.stdout!.on('data', (text: Buffer) => (log += text))
  while (!urlOf('/metrics are')) await sleep(20)
}

beforeAll(async () => {
  folder = makeService()
  await run('main.js')
}, 300_000)

afterAll(() => void service.kill('SIGKILL'))

const KEY = { 'X-Key': 'ada-12345678' }
const JSON_TYPE = { 'Content-Type': 'application/json' }
const BOTH = { ...KEY, ...JSON_TYPE }

async function ask(line: string, body?: string, headers: object = BOTH) {
  const [method, path] = line.split(' ')
  const init = { method, headers: { ...headers }, ...(body && { body }) } as RequestInit
  const response = await fetch(urlOf() + path!, init)
  const text = await response.text()
  const control = response.headers.get('cache-control')
  return { status: response.status, text, control, location: response.headers.get('location') }
}

test('a note is added, its owner lists it, and all can read it where Location says', async () => {
  const made = await ask('POST /notes', '{"text":"Buy milk","other":1}')
  expect(made).toMatchObject({ status: 201, control: 'no-store' })
  const { id } = JSON.parse(made.text)
  expect(made.location).toBe(`/notes/${id}`)
  const text = JSON.stringify({ id, owner: 'ada', text: 'Buy milk' })
  expect(await ask(`GET ${made.location}`, '', {})).toMatchObject({ status: 200, text })
  expect((await ask('GET /notes')).text).toBe(`[${text}]`)
  expect((await ask('GET /notes', '', { 'X-Key': 'eve-12345678' })).text).toBe('[]')
})

test.each([
  ['body_invalid', 400, 'POST /notes', BOTH, '{}'],
  ['unauthorized', 401, 'POST /notes', JSON_TYPE, '{"text":"x"}'],
  ['note_not_found', 404, 'GET /notes/x', {}, ''],
  ['unauthorized', 401, 'GET /nothing', {}, ''],
])('%s is %i', async (code, status, line, headers, body) => {
  const response = await ask(line, body, headers)
  expect(response).toMatchObject({ status, control: 'no-store' })
  expect(JSON.parse(response.text)).toEqual({ message: expect.any(String), code })
})

test('its test passes, and ends', () => {
  const { status, output } = bash(scripts.at(-1)!, folder)
  expect([status, output]).toEqual([0, expect.stringContaining('pass 1')])
})

test('what is public, the metrics and the probes are there', async () => {
  for (const path of ['/docs', '/docs/openapi-explorer.js', '/openapi.json'])
    expect([path, (await ask(`GET ${path}`, '', {})).status]).toEqual([path, 200])
  expect((await ask('GET /openapi.yaml', '', {})).text).toBe(files.get('openapi.yaml'))
  const ops = urlOf('/metrics are')!
  expect(await (await fetch(`${ops}/readyz`)).text()).toBe('ready')
  const metrics = await (await fetch(`${ops}/metrics`)).text()
  expect(metrics).toContain('notes_build_info{version="1.0.0"} 1')
  expect(metrics).toContain('tokens_refused_total{reason="key"} 2')
  expect(metrics).toContain('operation="addNote",method="POST",status="201"')
})

test('the package has its own version, its changelog and its license, and no page links out of it', () => {
  const inPackage = join(folder, 'node_modules/openapi-chassis')
  const text = (file: string) => readFileSync(join(inPackage, file), 'utf8')
  expect(JSON.parse(text('package.json'))).toMatchObject({ version, license: 'MIT' })
  expect(existsSync(join(inPackage, 'LICENSE'))).toBe(true)
  for (const page of ['README.md', 'CHANGELOG.md'])
    for (const [, link] of text(page).matchAll(/\]\((?!https?:|#)([^)#]*)/g))
      expect([link, existsSync(join(inPackage, link!))]).toEqual([link, true])
})

test('bundled, it starts without the page, and one warning says so', async () => {
  service.kill('SIGKILL')
  const js = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`
  const [entry, outfile] = ['main.js', 'bundle/main.mjs'].map((file) => join(folder, file))
  const options = { bundle: true, platform: 'node', format: 'esm', banner: { js } } as const
  await build({ ...options, entryPoints: [entry!], outfile: outfile! })
  copyFileSync(join(folder, 'openapi.yaml'), join(folder, 'bundle/openapi.yaml'))
  await run('bundle/main.mjs')
  expect(log.match(/"level":"warn".*/g)).toEqual([
    expect.stringContaining('"/docs is not served: '),
  ])
  expect(log).not.toContain('try it at')
  expect((await ask('GET /openapi.yaml')).text).toBe(files.get('openapi.yaml'))
  expect((await ask('GET /docs')).status).toBe(404)
  expect((await ask('GET /')).text).toContain('see /openapi.yaml')
})
