// The package, from README.md of the chassis: a service of notes in an empty folder.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { codeOf, makeService, version } from './support/package.ts'

let folder: string
let service: ReturnType<typeof start>

beforeAll(async () => {
  folder = makeService()
  service = start({ NOTES_KEYS: 'ada-12345678,eve-12345678' })
  await service.listening()
}, 300_000)

const started: ChildProcess[] = []
afterAll(() => started.forEach((child) => void child.kill('SIGKILL')))

function start(variables: Record<string, string>, program = 'main.js') {
  const env = { PATH: process.env['PATH'], PORT: '0', OPS_PORT: '0', ...variables }
  const child = spawn(process.execPath, [program], { cwd: folder, env })
  let log = ''
  for (const output of [child.stdout, child.stderr])
    output.on('data', (text: Buffer) => (log += text))
  const url = (name = 'listening') => RegExp(`${name}\\b.* on (http[^"]*)`).exec(log)?.[1]
  const listening = async () => {
    while (!url('/metrics are')) await sleep(20)
  }
  started.push(child)
  return { process: child, log: () => log, url, listening }
}

const KEY = { 'X-Key': 'ada-12345678' }
const JSON_TYPE = { 'Content-Type': 'application/json' }
const BOTH = { ...KEY, ...JSON_TYPE }

async function ask(line: string, body?: string, headers: object = BOTH, of = service) {
  const [method, path] = line.split(' ')
  const init = { method, headers: { ...headers }, ...(body && { body }) } as RequestInit
  const response = await fetch(of.url() + path!, init)
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

test('what is public, the metrics and the probes are there', async () => {
  for (const path of ['/docs', '/docs/openapi-explorer.js', '/openapi.json'])
    expect([path, (await ask(`GET ${path}`, '', {})).status]).toEqual([path, 200])
  expect((await ask('GET /openapi.yaml', '', {})).text).toBe(codeOf('yaml'))
  const ops = service.url('/metrics are')!
  expect(await (await fetch(`${ops}/readyz`)).text()).toBe('ready')
  const metrics = await (await fetch(`${ops}/metrics`)).text()
  expect(metrics).toContain('notes_build_info{version="1.0.0"} 1')
  expect(metrics).toContain('tokens_refused_total{reason="key"} 2')
  expect(metrics).toContain('operation="addNote",method="POST",status="201"')
})

test('an operation that the guard forgets is a 500, and nothing is done', async () => {
  const main = readFileSync(join(folder, 'main.js'), 'utf8')
  const forgetful = main
    .replace('(notes', '(notes|notes')
    .replace('notes.set', 'console.log`done`;$&')
  writeFileSync(join(folder, 'forgetful.js'), forgetful)
  const other = start({ NOTES_KEYS: 'ada-12345678' }, 'forgetful.js')
  await other.listening()
  expect(await ask('POST /notes', '{"text":"x"}', JSON_TYPE, other)).toMatchObject({ status: 500 })
  other.process.kill('SIGTERM')
  await once(other.process, 'close')
  expect(other.log()).toMatch(/"operation":"addNote".*the guard let it pass/)
  expect(other.log()).not.toContain('done')
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
