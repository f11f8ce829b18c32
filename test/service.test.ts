// The programs as people run them: built, with an environment, signals and a terminal's worth of output.
import { afterEach, describe, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createUsersClient } from '../src/client/client.ts'
import { openStore } from '../src/store/open.ts'
import { killPrograms, run, serve } from './support/program.ts'
import { checkedFetch, dial } from './support/service.ts'
import { describeStores, SECRET, sqlitePlace, type Place } from './support/stores.ts'

const places = new Set<Place>()

afterEach(async () => {
  await killPrograms()
  for (const place of places) await place.remove()
  places.clear()
})

const at = (make: () => Place): Place => {
  const place = make()
  places.add(place)
  return place
}

async function createUser(place: Place, ...args: string[]) {
  const program = run('scripts/create-user', place, {}, args)
  return { code: await program.ended, ...program.output }
}
const ADA = ['--name', 'Ada', '--email', 'ada@example.com']

const bearer = (baseUrl: string, token: string) =>
  createUsersClient({ baseUrl, token, fetch: checkedFetch })

describeStores((kind) => {
  test('a newcomer makes the first user, logs in, and finds it again after a restart', async () => {
    const place = at(kind)
    const service = serve(place)
    const url = await service.listening()
    while (service.output.stdout.split('\n').length < 6) await sleep(5)
    const [listening, page, kept, ops, empty] = service.output.stdout.split('\n')
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
    expect((await bearer(url, token).GET('/users')).data).toEqual([JSON.parse(user)])

    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    const again = serve(place)
    const users = bearer(await again.listening(), token)
    expect((await users.GET('/users')).data).toEqual([JSON.parse(user)])
    expect(again.output.stdout).not.toContain('create-user')
  })

  test('create-user works while no service runs, and refuses an email that is taken', async () => {
    const place = at(kind)
    expect((await createUser(place, ...ADA)).code).toBe(0)
    const { code, stdout, stderr } = await createUser(place, ...ADA)
    expect([code, stdout, stderr]).toEqual([
      1,
      '',
      'a user with email `ada@example.com` already exists\n',
    ])
  })
})

describe('create-user', () => {
  test.each([
    ['no email', ['--name', 'Ada']],
    ['an empty email', ['--name', 'Ada', '--email', '']],
    ['an unknown option', [...ADA, '--admin']],
    ['a stray word', [...ADA, 'x']],
  ])('refuses %s with its usage', async (_, args) => {
    const { code, stdout, stderr } = await createUser(at(sqlitePlace), ...args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/\nusage: npm run create-user -- --name NAME --email EMAIL\n$/)
  })
})

test('backup copies the embedded store while the service runs, and never over a file', async () => {
  const place = at(sqlitePlace)
  await serve(place).listening()
  await createUser(place, ...ADA)
  const other = at(sqlitePlace)
  const target = join(other.dataDir, 'users.db')
  expect(await run('scripts/backup', place, {}, [target]).ended).toBe(0)
  await createUser(place, '--name', 'Grace', '--email', 'grace@example.com')
  const store = await openStore(other)
  expect(await store.findByEmail('ada@example.com')).toMatchObject({ name: 'Ada' })
  expect(await store.findByEmail('grace@example.com')).toBeUndefined()
  await store.close()
  const again = run('scripts/backup', place, {}, [target])
  expect([await again.ended, again.output.stderr]).toEqual([
    1,
    expect.stringMatching(/^EEXIST: file already exists, .*\n$/),
  ])
  expect(await run('scripts/backup', place).ended).toBe(2)
  const missing = run('scripts/backup', at(sqlitePlace), {}, [join(place.dataDir, 'x')])
  expect(await missing.ended).toBe(1)
})

describe('the signing secret of the embedded store', () => {
  test('is made once, readable by its owner alone', async () => {
    const place = at(sqlitePlace)
    const file = join(place.dataDir, 'signing-secret')
    const [one, two, { stdout }] = await Promise.all([
      serve(place).listening(),
      serve(place).listening(),
      createUser(place, ...ADA),
    ])
    const token = /Bearer (.*)/.exec(stdout)![1]!
    for (const url of [one, two]) {
      expect((await bearer(url, token).GET('/users')).response.status).toBe(200)
    }
    const secret = readFileSync(file, 'utf8')
    expect(secret).toMatch(/^[0-9a-f]{64}\n$/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(place.dataDir, 'users.db')).mode & 0o777).toBe(0o600)
    await serve(place).listening()
    expect(readFileSync(file, 'utf8')).toBe(secret)
  })

  test('can be changed without refusing a token, there and in SIGNING_SECRETS', async () => {
    const place = at(sqlitePlace)
    const file = join(place.dataDir, 'signing-secret')
    const token = /Bearer (.*)/.exec((await createUser(place, ...ADA)).stdout)![1]!
    const older = readFileSync(file, 'utf8').trim()
    const ask = async (environment: Record<string, string>) =>
      (await bearer(await serve(place, environment).listening(), token).GET('/users')).response
        .status
    expect(await ask({ SIGNING_SECRETS: `${SECRET},${older}` })).toBe(200)
    expect(await ask({ SIGNING_SECRETS: SECRET })).toBe(401)
    writeFileSync(file, `${SECRET}\n${older}\n`)
    expect(await ask({})).toBe(200)
    writeFileSync(file, `${SECRET}\n`)
    expect(await ask({})).toBe(401)
  })

  test('is refused when it was cut short', async () => {
    const place = at(sqlitePlace)
    writeFileSync(join(place.dataDir, 'signing-secret'), 'short\n')
    const service = serve(place)
    expect(await service.ended).toBe(1)
    expect(service.output.stderr).toMatch(
      /^cannot use \S*signing-secret: each line must have at least 32 bytes.*\n$/,
    )
  })
})

test('a reader of the log that goes away does not end the service', async () => {
  const service = serve(at(sqlitePlace))
  const url = await service.listening()
  service.process.stdout!.destroy()
  const users = bearer(url, 'none')
  for (let i = 0; i < 3; i += 1) expect((await users.GET('/users')).response.status).toBe(401)
  service.process.kill('SIGTERM')
  expect(await service.ended).toBe(0)
})

describe('one clear line, and exit 1', () => {
  const refused = async (place: Place, env: Record<string, string>) => {
    const service = serve(place, env)
    expect(await service.ended).toBe(1)
    return service.output.stderr
  }

  test('for each variable that is wrong', async () => {
    const lines = await refused(at(sqlitePlace), { PORT: 'x', LOG_LEVEL: 'x' })
    expect(lines.split('\n').sort()).toEqual([
      '',
      expect.stringMatching(/^LOG_LEVEL must/),
      expect.stringMatching(/^PORT must/),
    ])
  })

  test('for a port in use', async () => {
    const { port } = new URL(await serve(at(sqlitePlace)).listening())
    const line = await refused(at(sqlitePlace), { PORT: port })
    expect(line).toMatch(/^cannot listen on 127\.0\.0\.1, port \d+: .*address already in use.*\n$/)
  })

  test('for a host that is not this machine', async () => {
    expect(await refused(at(sqlitePlace), { HOST: '192.0.2.1' })).toMatch(
      /^cannot listen on 192\.0\.2\.1, port 0: .*\n$/,
    )
  })

  test('for a data folder that cannot be written', async () => {
    const place = at(sqlitePlace)
    const file = join(place.dataDir, 'file')
    writeFileSync(file, '')
    expect(await refused(place, { DATA_DIR: join(file, 'data') })).toMatch(
      /^cannot open SQLite in .*: .+\n$/,
    )
  })

  test('for a database that is none', async () => {
    const place = at(sqlitePlace)
    writeFileSync(join(place.dataDir, 'users.db'), 'x'.repeat(10_000))
    expect(await refused(place, {})).toMatch(/^cannot open SQLite in .*: file is not a database\n$/)
  })

  test('for a secret file that cannot be read', async () => {
    const place = at(sqlitePlace)
    mkdirSync(join(place.dataDir, 'signing-secret'))
    expect(await refused(place, {})).toMatch(/^cannot use \S*signing-secret: EISDIR.*\n$/)
  })

  test('for a MongoDB that cannot be reached, without its password', async () => {
    const env = { MONGODB_URI: 'mongodb://ada:password@127.0.0.1:1/users', SIGNING_SECRET: SECRET }
    const line = await refused(at(sqlitePlace), env)
    expect(line).toMatch(/^cannot open MongoDB at 127\.0\.0\.1:1\/users: .*ECONNREFUSED.*\n$/)
    expect(line).not.toContain('password')
  })

  test('for a MongoDB address that is none', async () => {
    const env = { MONGODB_URI: 'mongodb://x:password@:port/', SIGNING_SECRET: SECRET }
    expect(await refused(at(sqlitePlace), env)).toMatch(
      /^cannot use MONGODB_URI: (?!.*password).*\n$/,
    )
  })
})

describe('a stop', () => {
  /** A service with a request in flight: its body has yet to come. */
  async function busy(env: Record<string, string> = {}) {
    const service = serve(at(sqlitePlace), env)
    const { port } = new URL(await service.listening())
    const { socket, text: answer } = dial(Number(port))
    socket.write(
      'POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 15\r\nExpect: 100-continue\r\n\r\n',
    )
    while (!answer().includes('100 Continue')) await sleep(5)
    return { service, socket, answer }
  }

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'by %s finishes what is in flight, then exits 0',
    async (signal) => {
      const { service, socket, answer } = await busy({ STOP_TIMEOUT: '1h' })
      service.process.kill(signal)
      while (!service.output.stdout.includes('finishing')) await sleep(5)
      socket.write('{"email":"ada"}')
      expect(await service.ended).toBe(0)
      expect(answer()).toContain('HTTP/1.1 401')
      expect(service.output.stdout).toMatch(/"msg":"stopped"\}\n$/)
    },
  )

  test('reaches the service through npm start', async () => {
    const { PATH = '' } = process.env
    const { environment } = at(sqlitePlace)
    const npm = spawn('npm', ['start'], { env: { PATH, PORT: '0', OPS_PORT: '0', ...environment } })
    let stdout = ''
    npm.stdout.on('data', (text: Buffer) => (stdout += text))
    const closed = once(npm, 'close')
    while (!stdout.includes('listening') && npm.exitCode === null) await sleep(20)
    npm.kill('SIGTERM')
    await closed
    expect(stdout).toMatch(/"msg":"stopped"\}\n$/)
  })

  test('waits no longer than STOP_TIMEOUT', async () => {
    const { service, answer } = await busy({ STOP_TIMEOUT: '1s' })
    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    expect(answer()).not.toContain('HTTP/1.1 401')
  })

  test('does not wait for idle connections', async () => {
    const service = serve(at(sqlitePlace), { STOP_TIMEOUT: '1h' })
    const url = await service.listening()
    await (await fetch(`${url}/nothing`)).text()
    service.process.kill('SIGTERM')
    expect(await service.ended).toBe(0)
  })

  test('is at once on a second signal, though not on the echo that npm makes of Ctrl-C', async () => {
    const { service } = await busy({ STOP_TIMEOUT: '1h' })
    service.process.kill('SIGINT')
    service.process.kill('SIGTERM')
    while (!service.output.stdout.includes('finishing')) await sleep(5)
    await sleep(200)
    expect(service.process.exitCode).toBeNull()
    service.process.kill('SIGINT')
    expect(await service.ended).toBe(1)
  })
})
