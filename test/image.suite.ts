// The image, run as strictly as a cluster would. Not part of `npm test`: npm run test:image builds it.
import { afterAll, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createUsersClient } from '../src/client/client.ts'
import { makeService } from './chassis/support/package.ts'
import { version } from './support/readme.ts'
import { checkedFetch } from './support/service.ts'
import { SECRET } from './support/stores.ts'
import { programs } from './support/scripts.ts'

const IMAGE = `users-service:${version}`
const BASE = 'node:24-bookworm-slim'
const run = `users-service-test-${randomUUID().slice(0, 8)}` // names what this run leaves behind
const NOTES = `${run}-notes`

const docker = (...args: string[]) =>
  execFileSync(process.env['DOCKER'] ?? 'docker', args, { encoding: 'utf8', stdio: 'pipe' }).trim()
const inspect = (name: string, format: string) => docker('inspect', '--format', format, name)

const STRICT = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges']

afterAll(() => {
  const left = (...list: string[]) =>
    docker(...list, '--quiet', '--filter', `name=${run}`)
      .split('\n')
      .filter(Boolean)
  for (const container of left('ps', '--all')) docker('rm', '--force', '--volumes', container)
  for (const volume of left('volume', 'ls')) docker('volume', 'rm', volume)
  docker('image', 'rm', '--force', NOTES)
})

/** Where a container's port is on this machine. */
const urlOf = (name: string) => `http://${docker('port', name, '3000/tcp').split('\n')[0]}`

async function healthy(name: string): Promise<void> {
  while (inspect(name, '{{.State.Health.Status}}') !== 'healthy') {
    if (inspect(name, '{{.State.Running}}') !== 'true') throw new Error(docker('logs', name))
    await sleep(200)
  }
}

test('on a volume it creates a user, keeps it after a kill, and stops with 0', async () => {
  const name = `${run}-kept`
  const more = ['--volume', `${run}-data:/data`, '--env', `SIGNING_SECRET=${SECRET}`]
  const outside = ['--restart=on-failure', '--publish', '127.0.0.1::3000']
  docker('run', '--detach', '--name', name, ...STRICT, ...more, ...outside, IMAGE)
  await healthy(name)

  const ada = ['--name', 'Ada', '--email', 'ada@example.com']
  expect(docker('logs', name)).toContain('run: create-user --name')
  const made = docker('exec', name, 'create-user', ...ada)
  const user = JSON.parse(made.split('\n')[0]!) as object
  const client = () =>
    createUsersClient({ baseUrl: urlOf(name), email: 'ada@example.com', fetch: checkedFetch })
  expect((await client().GET('/users')).data).toEqual([user])

  docker('kill', name)
  docker('start', name)
  await healthy(name)
  expect((await client().GET('/users')).data).toEqual([user])
  expect((await fetch(`${urlOf(name)}/docs`)).status).toBe(200)
  expect((await fetch(`${urlOf(name)}/openapi.yaml`)).status).toBe(200)

  docker('stop', name)
  expect(inspect(name, '{{.State.ExitCode}}')).toBe('0')
})

test('its health is checked every 2 s, by bash; it is not healthy while it is not ready', async () => {
  const { Test, Interval } = JSON.parse(inspect(IMAGE, '{{json .Config.Healthcheck}}'))
  expect([Test.slice(0, 2), Interval]).toEqual([['CMD', 'bash'], 2e9])
  const name = `${run}-starting`
  const env = ['--env', 'MONGODB_URI=mongodb://127.0.0.1:1', '--env', `SIGNING_SECRET=${SECRET}`]
  docker('run', '--detach', '--name', name, ...STRICT, ...env, IMAGE)
  const health = () => JSON.parse(inspect(name, '{{json .State.Health}}'))
  while (health().Log.length < 2) await sleep(200)
  const { Status, Log } = health()
  expect([Status, Log[1].ExitCode]).toEqual(['starting', 1])
})

test('node is process 1, and does not run as root', () => {
  expect(inspect(IMAGE, '{{json .Config.Cmd}}')).toBe('["node","dist/src/main.js"]')
  expect(inspect(IMAGE, '{{.Config.User}}')).toBe('1000:1000')
})

test('only its user can read and write /data, which a new volume inherits', () => {
  const stat = ['stat', '--format', '%u:%g %a', '/data']
  const volume = ['--volume', `${run}-new:/data`]
  for (const more of [[], volume]) {
    expect(docker('run', '--rm', ...STRICT, ...more, IMAGE, ...stat)).toBe('1000:1000 700')
  }
})

test('its layers over the base image stay under 60 MB', () => {
  const [whole, base] = [IMAGE, BASE].map((image) => Number(inspect(image, '{{.Size}}')))
  expect(whole! - base!).toBeLessThan(60_000_000)
})

test('it holds no test, no source and nothing that builds', () => {
  const script = `const has = (name) => { try { require.resolve(name); return true } catch { return false } };
    console.log(['typescript', 'jest', 'testcontainers', './src', './test'].filter(has).join())`
  expect(docker('run', '--rm', IMAGE, 'node', '-e', script)).toBe('')
})

test.each(programs)('it has the program %s', (program) => {
  expect(docker('run', '--rm', ...STRICT, IMAGE, program, '--help')).toMatch(/^usage: /)
})

test('the Dockerfile in the README of the chassis makes an image of its service, which stops with 0', async () => {
  docker('build', '--network=host', '--tag', NOTES, makeService())
  const more = ['--env', 'NOTES_KEYS=ada-12345678', '--publish', '127.0.0.1::3000']
  docker('run', '--detach', '--name', NOTES, ...STRICT, ...more, NOTES)
  while (!docker('logs', NOTES).includes('/metrics are on')) await sleep(200)
  const headers = { 'X-Key': 'ada-12345678', 'Content-Type': 'application/json' }
  const url = `${urlOf(NOTES)}/notes`
  const body = '{"text":"Buy milk"}'
  const made = await (await fetch(url, { method: 'POST', headers, body })).json()
  expect(await (await fetch(url, { headers })).json()).toEqual([made])
  expect(docker('run', '--rm', NOTES, 'id', '--user')).toBe('1000')
  docker('stop', NOTES)
  expect(inspect(NOTES, '{{.State.ExitCode}}')).toBe('0')
}, 600_000) // it installs twice
