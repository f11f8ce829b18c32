// The package, from README.md of the chassis: a service of notes in an empty folder.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { newFolder, read, root } from '../support/readme.ts'

const page = read('src/chassis/README.md')
const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
const codeOf = (language: string) => blocks.find(([, name]) => name === language)![2]!
const FILES = { 'openapi.yaml': 'yaml', 'main.ts': 'ts', 'tsconfig.json': 'json' }
const RUN = /^NOTES_KEY=.* node main\.js\n/m

const folder = newFolder()
const bash = (script: string, cwd = folder) => {
  const { status, stdout, stderr } = spawnSync('bash', ['-ec', script], { cwd, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

let service: ChildProcess
let log = ''
const url = (name = 'listening') => RegExp(`${name}\\b.* on (http[^"]*)`).exec(log)?.[1]

beforeAll(async () => {
  const pack = `npm run --silent pack:chassis -- --pack-destination ${folder}`
  expect(bash(pack, root)).toMatchObject({ status: 0 })
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^openapi-chassis-.*\.tgz$/)])
  for (const [file, language] of Object.entries(FILES))
    writeFileSync(join(folder, file), codeOf(language))
  const script = codeOf('sh')
  expect(script).toMatch(RUN)
  expect(bash(script.replace(RUN, ''))).toMatchObject({ status: 0 })
  const env = { PATH: process.env['PATH'], PORT: '0', OPS_PORT: '0', NOTES_KEY: 'notes-key' }
  service = spawn(process.execPath, ['main.js'], { cwd: folder, env })
  service.stdout!.on('data', (text: Buffer) => (log += text))
  while (!url('/metrics are')) await sleep(20)
}, 300_000)

afterAll(() => void service.kill('SIGKILL'))

const KEY = { 'X-Key': 'notes-key' }
const JSON_TYPE = { 'Content-Type': 'application/json' }
const BOTH = { ...KEY, ...JSON_TYPE }

async function ask(line: string, body?: string, headers: object = BOTH) {
  const [method, path] = line.split(' ')
  const init = { method, headers: { ...headers }, ...(body && { body }) } as RequestInit
  const response = await fetch(url() + path!, init)
  const text = await response.text()
  const control = response.headers.get('cache-control')
  return { status: response.status, text, control, location: response.headers.get('location') }
}

test('a note is added, and read where Location says', async () => {
  const made = await ask('POST /notes', '{"text":"Buy milk","other":1}')
  expect(made).toMatchObject({ status: 201, control: 'no-store' })
  const { id } = JSON.parse(made.text)
  expect(made.location).toBe(`/notes/${id}`)
  const text = JSON.stringify({ id, text: 'Buy milk' })
  expect(await ask(`GET ${made.location}`)).toMatchObject({ status: 200, text })
})

test.each([
  ['note_blank', 400, 'POST /notes', BOTH, '{"text":" "}'],
  ['unauthorized', 401, 'POST /notes', JSON_TYPE, '{"text":"x"}'],
  ['note_not_found', 404, 'GET /notes/x', KEY, ''],
])('%s is %i', async (code, status, line, headers, body) => {
  const response = await ask(line, body, headers)
  expect(response).toMatchObject({ status, control: 'no-store' })
  expect(JSON.parse(response.text)).toEqual({ message: expect.any(String), code })
})

test('the page, the contract, the metrics and the probes are there', async () => {
  expect(await ask('GET /docs')).toMatchObject({ status: 200 })
  expect(await ask('GET /docs/openapi-explorer.js')).toMatchObject({ status: 200 })
  expect(await ask('GET /openapi.yaml')).toMatchObject({ status: 200, text: codeOf('yaml') })
  const ops = url('/metrics are')!
  expect(await (await fetch(`${ops}/readyz`)).text()).toBe('ready')
  const metrics = await (await fetch(`${ops}/metrics`)).text()
  expect(metrics).toContain('notes_build_info{version="1.0.0"} 1')
  expect(metrics).toContain('tokens_refused_total{reason="key"} 1')
  expect(metrics).toContain('operation="addNote",method="POST",status="201"')
})
