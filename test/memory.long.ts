// The memory of the service, as a process with the settings of the image, under 500 clients at once: a container of
// 256 MiB survives them, and nobody else's request fails. Runs on Linux, which shows the memory of another process.
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { User } from '../src/store/user-store.ts'
import * as clients from './chassis/support/clients.ts'
import { amid, doesNotRead, hangUp, many, says, type Hostile } from './chassis/support/clients.ts'
import { bodies } from './chassis/support/hostile.ts'
import { CHUNKED, chunksOf, CLOSE, get } from './chassis/support/requests.ts'
import { logIn as login, post, postHead, send } from './support/service.ts'
import { startProxy } from './support/mongodb-proxy.ts'
import { IMAGE, killPrograms, serve, useUndo, type Program } from './support/program.ts'
import { BODY_LIMIT, dial } from './chassis/support/app.ts'
import {
  createAt,
  databaseOf,
  describeStores,
  SECRET,
  usePlaces,
  type Place,
} from './support/stores.ts'
import { newUser } from './support/users.ts'

jest.setTimeout(600_000)

const CLIENTS = 500
/** With room for the clients that mean no harm: otherwise some of the others would be closed. */
const MAX_CONNECTIONS = '510'
/** Less than a container of 256 MiB, in MB. */
const MEMORY = 230

/** A user with emoji, as JSON, as large as a body may be. */
const largeUser = (email = `${randomUUID()}@example.com`) => {
  const user = newUser({ email })
  const length = (BODY_LIMIT - JSON.stringify(user).length - 20) / 4
  return JSON.stringify({ ...user, name: '\u{1F600}'.repeat(length) })
}

/** Short headers, each with a name of its own. */
const headersOf = (count: number) =>
  Array.from({ length: count }, (_, i) => `${i.toString(36)}:\r\n`).join('')

/** 64 KB over the wire: what Node reads at once. */
const inChunks = postHead(CHUNKED + CLOSE) + chunksOf(' '.repeat(10_900))

const LONG_EMAIL = `{"email":"\u{1F600}${'x'.repeat(100_000)}"}`

/** Clients whose responses end the connection, and their status. Clients that go on sending may lose theirs. */
const answered: [string, () => Hostile, string][] = [
  ['log in with an email as long as may be', () => says(login(LONG_EMAIL, CLOSE)), '401'],
  ['send bodies with many fields', () => says(login(bodies['many fields'], CLOSE)), '400'],
  ['send bodies in chunks of one byte', () => says(inChunks), '(413|408)?'],
  ['send 3,000 requests', () => says('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3_000)), ''],
  ['create users as large as may be', () => says(post(largeUser(), CLOSE)), '201'],
]

/** Clients that are closed and come back. */
const comingAndGoing: [string, () => string, number][] = [
  ['do not end a body', () => post(largeUser(), CLOSE).slice(0, -1), 10_000],
  ['read lists of large users', () => get('/users'), 10_000],
]

/** Clients that wait. */
const waiting: [string, () => Hostile][] = [
  ['read no list of large users', () => doesNotRead(get('/users'))],
  ['read no large user', () => doesNotRead(get(`/users/${state.id}`).repeat(10))],
  ['do not end their headers', () => says(`GET / HTTP/1.1\r\nHost: x\r\n${headersOf(2_600)}`)],
  ['are idle after 100 headers', () => says(`GET / HTTP/1.1\r\nHost: x\r\n${headersOf(97)}\r\n`)],
]

/** A rename under a condition, which holds. */
const rename = ({ id }: User, condition = 'If-None-Match: "a"\r\n') =>
  post('{"name":"s"}', condition + CLOSE).replace('POST /users', `PUT /users/${id}`)

/** Requests for users with long names, each for another user, and their status. */
const forLongNames: [string, (user: User) => string, number][] = [
  ['creates a user with the email of', ({ email }) => post(JSON.stringify({ email }), CLOSE), 400],
  ['renames, under a condition,', (user) => rename(user), 204],
]

/** 15 KB that match no user. */
const NONE_MATCH = `If-None-Match: ${'"a", '.repeat(3_000)}"a"\r\n`

/** What clients send that leave without a response, and after how many milliseconds they do. */
const leaving: [string, (user: User) => string, number][] = [
  ['log in', ({ email }) => login(JSON.stringify({ email })), 50],
  ['read lists', () => get('/users?limit=1000'), 100],
  ['create a large user with an email that is taken', ({ email }) => post(largeUser(email)), 200],
  ['rename a user under a condition, with large headers', (user) => rename(user, NONE_MATCH), 150],
]

/** What many clients do, and whether the store stands still for 10 s, or is just slow. */
const floods: [string, typeof leaving, boolean][] = [
  ...leaving.map((one): (typeof floods)[0] => [
    `${one[0]}, leave and come back, and the store is slow`,
    [one],
    false,
  ]),
  ['do all of this, and the store stands still for 10 s', leaving, true],
]

const state = { id: '' }

/** For `ms`, writes wait; MongoDB takes its time in any case. */
async function keepStoreBusy(place: Place, ms: number): Promise<void> {
  if (place.MONGODB_URI) return sleep(ms)
  const db = databaseOf(place)
  db.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE')
  await sleep(ms)
  db.exec('COMMIT')
  db.close()
}

/** The server that stands in for MongoDB reads all users for each look-up, so a look-up could take too long. */
const readNobody = async (port: number) =>
  expect((await send(port, 'GET /users/x')).status).toBe(404)

/** What a client does that means no harm; each response is what it should be. */
async function useOrdinarily(port: number): Promise<void> {
  const fields = newUser({ email: `${randomUUID()}@example.com` })
  const made = await send(port, 'POST /users', { json: fields })
  const { id } = made.json
  expect([made.status, made.json]).toEqual([201, { id, ...fields }])
  expect((await send(port, `GET /users/${id}`)).json).toEqual(made.json)
  expect((await send(port, `DELETE /users/${id}`)).status).toBe(204)
}

/** Whether somebody is served within 2 s. */
const isServed = (port: number, id: string): Promise<boolean> => {
  const isRight = send(port, `GET /users/${id}`).then(({ status }) => status === 200)
  return Promise.race([isRight, sleep(2_000, false)]).catch(() => false)
}

/** Starts the service as a process with the settings of the image. */
async function start(place: Place, env?: Record<string, string>) {
  const program = serve(place, { SIGNING_SECRET: SECRET, MAX_CONNECTIONS, ...IMAGE, ...env })
  return { program, port: Number(new URL(await program.listening()).port) }
}

/** The most memory that a process takes during an attack, in MB. Meanwhile others use the service. */
async function peakOf(
  { process: { pid } }: Program,
  attack: Promise<unknown>,
  port: number,
  use: (port: number) => Promise<void>,
): Promise<number> {
  writeFileSync(`/proc/${pid}/clear_refs`, '5') // forgets the most so far
  await amid(attack, port, use)
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024
}

/** How long a program's main thread has waited for a CPU, in ms (https://docs.kernel.org/scheduler/sched-stats.html). */
const msWithoutCpu = ({ process: { pid } }: Program): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6

/** How many connections to a port this side has not closed (https://docs.kernel.org/networking/proc_net_tcp.html). */
function connectionsTo(port: number): number {
  const local = port.toString(16).toUpperCase().padStart(4, '0')
  const open = RegExp(`^ *\\d+: \\w+:${local} \\w+:\\w+ (01|08) `, 'gm') // established, or closed by the client
  return [...readFileSync('/proc/net/tcp', 'utf8').matchAll(open)].length
}

/** /livez responds within the time that Kubernetes gives it. */
async function expectAlive(program: Program): Promise<void> {
  const timeout = sleep(3_000).then(() => 'no response in 3 s')
  expect(await Promise.race([program.probe('/livez'), timeout])).toMatchObject({ status: 200 })
}

const statusesIn = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status).join()

const describeLinux = process.platform === 'linux' ? describe : describe.skip

// SECURITY.md: Memory
describeLinux('a process of 256 MiB, on Linux, serves others while hundreds of clients', () => {
  describeStores((kind) => {
    let place: Place
    let program: Program
    let port: number

    beforeAll(async () => {
      place = kind()
      const users = Array.from({ length: 10 }, () => newUser({ name: 'x'.repeat(100_000) }))
      state.id = (await createAt(place, ...users))[0]!.id
      const started = await start(place)
      program = started.program
      port = started.port
    })
    afterEach(() => {
      hangUp()
      const { exitCode, signalCode } = program.process
      if ((exitCode ?? signalCode) !== null)
        throw new Error(`the service ended: ${program.output.stderr}`)
    })
    afterAll(async () => {
      await killPrograms()
      await place.remove()
    })

    const useOnce = async () => (place.MONGODB_URI ? readNobody : useOrdinarily)(port)
    const peakDuring = (attack: Promise<unknown>, use = useOnce) =>
      peakOf(program, attack, port, use)

    test.each(answered)('%s', async (_, client, expected) => {
      const attack = many(CLIENTS, async () => statusesIn(await clients.textFrom(client(), port)))
      expect(await peakDuring(attack)).toBeLessThan(MEMORY)
      const pattern = new RegExp(`^${expected}$`)
      const others = (await attack).filter((statuses) => !pattern.test(statuses))
      expect(others).toEqual([])
    })

    test.each(comingAndGoing)('%s, are closed and come back', async (_, bytes, ms) => {
      const request = bytes() // the same one each time: clients are fast
      let isOver = false
      const comeAndGo = async () => {
        for (let i = 0; i < 4 * CLIENTS; i += 1) clients.comesBack(request, () => isOver)(port)
        await sleep(ms)
        isOver = true
        hangUp() // all at once
        await sleep(1_000)
      }
      expect(await peakDuring(comeAndGo(), () => expectAlive(program))).toBeLessThan(MEMORY)
      while (connectionsTo(port) > 0) await sleep(100) // nothing stays open
    })

    test.each(waiting)('%s', async (_, client) => {
      for (let i = 0; i < CLIENTS; i += 1) client()(port)
      expect(await peakDuring(sleep(2_000))).toBeLessThan(MEMORY)
    })
  })
})

describeLinux('a process of 256 MiB, on Linux, survives', () => {
  describeStores((kind) => {
    const undo = useUndo()
    const at = usePlaces()

    test.each(forLongNames)(
      'when each of 500 clients %s another user with a long name',
      async (_, requestFor, status) => {
        const place = at(kind)
        const name = `${'x'.repeat(98_000)}\u{1F600}` // takes two bytes for each letter in V8's heap
        const count = place.MONGODB_URI ? 100 : CLIENTS // the stand-in reads all of them for each look-up
        const users: User[] = []
        while (users.length < count) {
          const more = Array.from({ length: 50 }, () => newUser({ name }))
          users.push(...(await createAt(place, ...more)))
        }
        const { program, port } = await start(place)
        const clients = users.map((user) => ({ ...dial(port), request: requestFor(user) }))
        await Promise.all(clients.map(({ socket }) => once(socket, 'connect')))
        const attack = clients.map(async ({ socket, request, text }) => {
          socket.write(request)
          await once(socket, 'close')
          return statusesIn(text())
        })
        const peak = await peakOf(program, Promise.all(attack), port, () => expectAlive(program))
        expect(peak).toBeLessThan(MEMORY)
        // The server that stands in for MongoDB may not respond in time.
        const pattern = new RegExp(place.MONGODB_URI ? `^(${status}|500)$` : `^${status}$`)
        const others = (await Promise.all(attack)).filter((statuses) => !pattern.test(statuses))
        expect(others).toEqual([])
      },
    )

    test.each(floods)(
      'when clients %s, and serves others 10 s later',
      async (_, requests, isStill) => {
        const place = at(kind)
        const users = await createAt(place, ...Array.from({ length: 10 }, () => newUser()))
        const proxy = place.MONGODB_URI ? await startProxy(place.MONGODB_URI) : undefined
        undo.push(() => proxy?.close())
        const { program, port } = await start(place, proxy && { MONGODB_URI: proxy.uri })
        while ((await program.probe('/readyz')).status !== 200) await sleep(100)
        let isOver = false
        const comeAndLeave = async () => {
          for (let i = 0; i < CLIENTS; i += 1) {
            const [, requestFor, ms] = requests[i % requests.length]!
            clients.leaves(requestFor(users[i % users.length]!), ms, () => isOver)(port)
          }
          if (isStill) proxy?.standStill(sleep(10_000))
          else proxy?.slowDown(500)
          for (const ms of isStill ? [10_000] : [1_000, 1_000, 1_000]) {
            await keepStoreBusy(place, ms)
            await sleep(500)
          }
          isOver = true
          hangUp()
          const now = () => performance.now() - msWithoutCpu(program)
          const end = now()
          while (!(await isServed(port, users[0]!.id))) await sleep(100)
          return now() - end
        }
        // The server that stands in for MongoDB may not respond in time, so a 500 is no failure there, but a reset is.
        const use = async () => {
          await many(3, () => useOrdinarily(port)).catch((error: NodeJS.ErrnoException) => {
            if (!isStill && (!proxy || error.code)) throw error
          })
        }
        const attack = comeAndLeave()
        expect(await peakOf(program, attack, port, use)).toBeLessThan(MEMORY)
        expect(await attack).toBeLessThan(10_000)
      },
    )
  })
})
