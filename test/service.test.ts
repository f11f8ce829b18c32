// The built programs, as people run them: the environment, signals and output.
import { afterEach, describe, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../src/store/open.ts'
import { freePort, killPrograms, run, serve } from './support/program.ts'
import { dial, send } from './support/service.ts'
import {
  describeMongodb,
  describeStores,
  mongodbPlace,
  sqlitePlace,
  usersAt,
  type Place,
} from './support/stores.ts'
import { newUser } from './support/users.ts'

const places = new Set<Place>()

afterEach(async () => {
  await killPrograms()
  for (const place of places) await place.remove()
  places.clear()
})

/** A place that is removed after the test. */
const at = (make: () => Place): Place => {
  const place = make()
  places.add(place)
  return place
}

async function createUser(place: Place, ...args: string[]) {
  return createUserWith({}, place, ...args)
}
async function createUserWith(env: Record<string, string>, place: Place, ...args: string[]) {
  const program = run('scripts/create-user', place, env, args)
  return { code: await program.ended, ...program.output }
}
const ADA = ['--name', 'Ada', '--email', 'ada@example.com']

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

const listAt = async (url: string, token: string) =>
  send(Number(new URL(url).port), 'GET /users', { authorization: `Bearer ${token}` })

describeStores((kind) => {
  test('the first user is created, logged in, and still there after a restart', async () => {
    const place = at(kind)
    const service = serve(place)
    const url = await service.listening()
    while (service.output.stdout.split('\n').length < 7) await sleep(5)
    const [first, listening, page, kept, ops, empty] = service.output.stdout.split('\n')
    expect(first).toContain(`users-service ${version} on Node ${process.version}`)
    expect(listening).toContain(`listening on ${url}`)
    expect(page).toContain(`${url}/docs`)
    expect(kept).toMatch(/users are kept in (SQLite in |MongoDB at )/)
    expect(ops).toMatch(/\/readyz and \/metrics are on http:\/\/127.0.0.1:\d+/)
    expect(empty).toContain('create-user.js --name Ada --email ada@example.com')

    const { code, stdout } = await createUser(place, ...ADA)
    expect(code).toBe(0)
    const [user = '', , header = ''] = stdout.split('\n')
    expect(JSON.parse(user)).toMatchObject({ name: 'Ada', email: 'ada@example.com' })
    const token = header.replace('Authorization: Bearer ', '')
    expect((await listAt(url, token)).json).toEqual([JSON.parse(user)])

    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    const taken = 'a user with email `ada@example.com` already exists\n'
    expect(await createUser(place, ...ADA)).toEqual({ code: 1, stdout: '', stderr: taken })
    const again = serve(place)
    expect((await listAt(await again.listening(), token)).json).toEqual([JSON.parse(user)])
    expect(again.output.stdout).not.toContain('create-user')
  })
})

describeMongodb('create-user without the secret of the service', () => {
  test('creates the user, and says how to get a token', async () => {
    const place = at(mongodbPlace)
    const { code, stdout, stderr } = await createUserWith({ SIGNING_SECRET: '' }, place, ...ADA)
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^stored in MongoDB at /)])
    expect(JSON.parse(stdout.split('\n')[0]!)).toEqual((await usersAt(place))[0])
    expect(stdout).toContain('SIGNING_SECRET is not set')
    expect(stdout).toContain('POST /login')
  })
})

test('create-user refuses missing, empty and unknown options, and shows its usage', async () => {
  const place = at(sqlitePlace)
  const wrong = [ADA.slice(0, 2), [...ADA.slice(0, 3), ''], [...ADA, '--admin'], [...ADA, 'x']]
  for (const refused of await Promise.all(wrong.map((args) => createUser(place, ...args)))) {
    const stderr = /\nusage: create-user \[--name NAME\] --email EMAIL\nsee --help\n$/
    expect(refused).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(stderr) })
  }
})

test('backup copies the embedded store while it is in use, and never overwrites a file', async () => {
  const [place, other] = [at(sqlitePlace), at(sqlitePlace)]
  const store = await openStore(place)
  const ada = await store.create(newUser())
  const target = join(other.dataDir, 'users.db')
  const backup = async (from: Place, ...args: string[]) => {
    const program = run('scripts/backup', from, {}, args)
    return { code: await program.ended, stderr: program.output.stderr }
  }
  expect(await backup(place, target)).toEqual({ code: 0, stderr: '' })
  const grace = await store.create(newUser())
  await store.close()
  const copy = await openStore(other)
  expect([await copy.find(ada.id), await copy.find(grace.id)]).toEqual([ada, undefined])
  await copy.close()
  const exists = /users\.db exists: give another file\n$/
  expect(
    await Promise.all([backup(place, target), backup(place), backup(at(sqlitePlace), 'x')]),
  ).toEqual([
    { code: 1, stderr: expect.stringMatching(exists) },
    { code: 2, stderr: expect.stringContaining('usage: ') },
    { code: 1, stderr: expect.any(String) },
  ])
})

test('the service runs on when its log cannot be written, and counts the lines, or when its reader goes away', async () => {
  const [port, ops] = await Promise.all([freePort(), freePort()])
  const ports = { PORT: `${port}`, OPS_PORT: `${ops}` }
  const { PATH } = process.env
  const env = { PATH, ...at(sqlitePlace).environment, ...ports }
  const script = 'exec "$0" dist/src/main.js > /dev/full'
  const mute = spawn('sh', ['-c', script, process.execPath], { env })
  const unheard = serve(at(sqlitePlace))
  const url = await unheard.listening()
  unheard.process.stdout!.destroy()
  while (!(await fetch(`http://127.0.0.1:${port}`).catch(() => undefined))) await sleep(50)
  for (const at of [url, url, url, `http://127.0.0.1:${port}`]) {
    expect((await listAt(at, 'none')).status).toBe(401)
  }
  const metrics = await (await fetch(`http://127.0.0.1:${ops}/metrics`)).text()
  expect(metrics).toMatch(/^log_lines_dropped_total [1-9]/m)
  const ended = once(mute, 'exit')
  mute.kill('SIGTERM')
  unheard.process.kill('SIGTERM')
  expect([(await ended)[0], await unheard.ended]).toEqual([0, 0])
})

test('the service exits with 1 and one clear line for each variable that is wrong, or for a port, host or folder that it cannot use', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const file = join(at(sqlitePlace).dataDir, 'file')
  writeFileSync(file, '')
  const refused = async (environment: Record<string, string>) => {
    const service = serve(at(sqlitePlace), environment)
    return { code: await service.ended, stderr: service.output.stderr }
  }
  const says = (line: RegExp) => ({ code: 1, stderr: expect.stringMatching(line) })
  const [variables, ...others] = await Promise.all([
    refused({ PORT: 'x', LOG_LEVEL: 'x' }),
    refused({ PORT: `${port}` }),
    refused({ HOST: '192.0.2.1' }),
    refused({ OPS_HOST: '192.0.2.1' }),
    refused({ DATA_DIR: join(file, 'data') }),
  ])
  expect(variables).toEqual(
    says(/^(PORT must.*\nLOG_LEVEL must.*\n|LOG_LEVEL must.*\nPORT must.*\n)$/),
  )
  expect(others).toEqual([
    says(/^cannot listen on HOST 127\.0\.0\.1, PORT \d+: .*address already in use.*\n$/),
    says(/^cannot listen on HOST 192\.0\.2\.1, OPS_PORT 0: .*\n$/),
    says(/^cannot listen on OPS_HOST 192\.0\.2\.1, OPS_PORT 0: .*\n$/),
    says(/^cannot keep users in the folder .* \(DATA_DIR\): .+\n$/),
  ])
  other.close()
})

describe('a stop', () => {
  const LOG_IN =
    'POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 15\r\n' +
    'Expect: 100-continue\r\n\r\n'

  /** A service with an idle connection, and a request whose body is still missing. */
  async function busy(environment: Record<string, string>) {
    const service = serve(at(sqlitePlace), environment)
    const url = await service.listening()
    await (await fetch(`${url}/nothing`)).text()
    const { socket, text } = dial(Number(new URL(url).port))
    socket.write(LOG_IN)
    while (!text().includes('100 Continue')) await sleep(5)
    return { service, socket, text }
  }

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s finishes the requests in flight, does not wait for idle connections, and exits with 0',
    async (signal) => {
      const { service, socket, text } = await busy({ STOP_TIMEOUT: '1h' })
      service.process.kill(signal)
      while (!service.output.stdout.includes('finishing')) await sleep(5)
      socket.write('{"email":"ada"}')
      expect(await service.ended).toBe(0)
      expect(text()).toContain('HTTP/1.1 401')
      expect(service.output.stdout).toMatch(/"msg":"stopped"\}\n$/)
    },
  )

  test('waits at most STOP_TIMEOUT', async () => {
    const { service, text } = await busy({ STOP_TIMEOUT: '100ms' })
    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    expect(text()).not.toContain('HTTP/1.1 401')
  })

  test('is immediate after a second signal, but not after the copy of Ctrl-C that npm sends', async () => {
    const { service } = await busy({ STOP_TIMEOUT: '1h' })
    service.process.kill('SIGINT')
    service.process.kill('SIGTERM')
    while (!service.output.stdout.includes('finishing')) await sleep(5)
    await sleep(200)
    expect(service.process.exitCode).toBeNull()
    service.process.kill('SIGINT')
    expect(await service.ended).toBe(1)
  })

  test('reaches the service through npm start', async () => {
    const { PATH = '' } = process.env
    const env = { PATH, PORT: '0', OPS_PORT: '0', ...at(sqlitePlace).environment }
    const npm = spawn('npm', ['start', '--ignore-scripts'], { env }) // without the build before it
    let stdout = ''
    npm.stdout.on('data', (text: Buffer) => (stdout += text))
    const closed = once(npm, 'close')
    while (!stdout.includes('listening') && npm.exitCode === null) await sleep(20)
    npm.kill('SIGTERM')
    await closed
    expect(stdout).toMatch(/"msg":"stopped"\}\n$/)
  })
})
