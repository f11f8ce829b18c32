// The memory of the service, as a process with the settings of the image, under 500 clients at once (100 in `npm test`): a container of
// 256 MiB survives them, and nobody else's request fails. Runs on Linux, which shows the memory of another process.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  comesBack,
  doesNotRead,
  hangUp,
  leaves,
  says,
  textFrom,
  type Hostile,
} from '../support/clients.ts'
import { bodies } from '../support/hostile.ts'
import { amid, many, useOrdinarily } from '../support/ordinary.ts'
import { CHUNKED, CLOSE, get, login, loginWith, oneByOne, post } from '../support/requests.ts'
import { IMAGE, killPrograms, serve, type Program } from '../support/program.ts'
import { rounds } from '../support/rounds.ts'
import { BODY_LIMIT, send } from '../support/service.ts'
import { createAt, databaseOf, describeStores, SECRET, type Place } from '../support/stores.ts'
import { newUser } from '../support/users.ts'

const CLIENTS = rounds(100, 500)
/** With room for the clients that mean no harm: otherwise some of the others would be closed. */
const MAX_CONNECTIONS = '510'
/** Less than a container of 256 MiB, in MB. */
const MEMORY = 230

/** A user with emoji, as JSON, as large as a body may be. */
const largeUser = () => {
  const user = newUser({ email: `${randomUUID()}@example.com` })
  const length = (BODY_LIMIT - JSON.stringify(user).length - 20) / 4
  return JSON.stringify({ ...user, name: '\u{1F600}'.repeat(length) })
}

/** Short headers, each with a name of its own. */
const headersOf = (count: number) =>
  Array.from({ length: count }, (_, i) => `${i.toString(36)}:\r\n`).join('')

/** 64 KB over the wire: what Node reads at once. */
const inChunks = oneByOne(' '.repeat(10_900)).replace('\r\n', `\r\n${CLOSE}`)

/** Reads a large user when all clients have their connections. */
const readAtOnce = (): Hostile => (port, onText) => {
  const socket = says(get('/nothing'))(port, onText)
  socket.once('data', () => {
    if (state.connected.push(socket) < CLIENTS) return
    for (const one of state.connected.splice(0)) one.write(get(`/users/${state.id}`, CLOSE))
  })
  return socket
}

const LONG_EMAIL = `{"email":"\u{1F600}${'x'.repeat(100_000)}"}`
/** 408: so many that the first request is not read in time. */
const OR_408 = '(404(,413|,408)?|408)'

/** Clients whose responses end the connection, and their status. Clients that go on sending may lose theirs. */
const answered: [string, () => Hostile, string][] = [
  ['log in with an email as long as may be', () => says(loginWith(LONG_EMAIL, CLOSE)), '401'],
  ['send bodies with many fields', () => says(loginWith(bodies['many fields'], CLOSE)), '400'],
  ['send bodies in chunks of one byte', () => says(inChunks), '(413|408)?'],
  ['send such chunks after another request', () => says(get('/users/x') + inChunks), OR_408],
  ['read a large user, all at once, over open connections', readAtOnce, '404,200'],
  ['send 3,000 requests', () => says('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3_000)), ''],
  ['create users as large as may be', () => says(post(largeUser(), CLOSE)), '201'],
]

/** Clients that are closed and come back. */
const comingAndGoing: [string, () => string, number][] = [
  ['do not end a body', () => post(largeUser(), CLOSE).slice(0, -1), 60_000],
  ['read no list of large users', () => get('/users'), 10_000],
]

/** Clients that wait. */
const waiting: [string, () => Hostile][] = [
  ['read no list of large users', () => doesNotRead(get('/users'))],
  ['read no large user', () => doesNotRead(get(`/users/${state.id}`).repeat(10))],
  ['do not end a body', () => says(post(largeUser(), CLOSE).slice(0, -1))],
  ['do not end their headers', () => says(`GET / HTTP/1.1\r\nHost: x\r\n${headersOf(2_600)}`)],
  ['do not end their trailers', () => says(`${login(CHUNKED)}0\r\n${headersOf(2_600)}`)],
  ['are idle after 100 headers', () => says(`GET / HTTP/1.1\r\nHost: x\r\n${headersOf(97)}\r\n`)],
]

const state = { id: '', connected: [] as Socket[] }

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

const describeLinux = process.platform === 'linux' ? describe : describe.skip

describeLinux('a process of 256 MiB, on Linux, serves others while hundreds of clients', () => {
  describeStores((kind) => {
    let place: Place
    let program: Program
    let port: number

    beforeAll(async () => {
      place = kind()
      const users = Array.from({ length: 10 }, () => newUser({ name: 'x'.repeat(100_000) }))
      state.id = (await createAt(place, ...users))[0]!.id
      program = serve(place, { SIGNING_SECRET: SECRET, MAX_CONNECTIONS, ...IMAGE })
      port = Number(new URL(await program.listening()).port)
    })
    afterEach(hangUp)
    afterAll(async () => {
      await killPrograms()
      await place.remove()
    })

    /** /livez responds within the time that Kubernetes gives it. */
    const expectAlive = async () => {
      const timeout = sleep(3_000).then(() => 'no response in 3 s')
      expect(await Promise.race([program.probe('/livez'), timeout])).toMatchObject({ status: 200 })
    }

    const useOnce = async () => (place.MONGODB_URI ? readNobody : useOrdinarily)(port)

    /** The most memory that the process takes during an attack, in MB. Meanwhile it serves other requests. */
    async function peakDuring(attack: Promise<unknown>, use = useOnce): Promise<number> {
      writeFileSync(`/proc/${program.process.pid}/clear_refs`, '5') // forgets the most so far
      await amid(attack, port, use)
      const status = readFileSync(`/proc/${program.process.pid}/status`, 'utf8')
      return Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024
    }

    test.each(answered)('%s', async (_, client, expected) => {
      const attack = many(CLIENTS, async () => {
        const text = await textFrom(client(), port)
        return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status).join()
      })
      expect(await peakDuring(attack)).toBeLessThan(MEMORY)
      const pattern = new RegExp(`^${expected}$`)
      const others = (await attack).filter((statuses) => !pattern.test(statuses))
      expect(others).toEqual([])
    })

    test.each(comingAndGoing)('%s, are closed and come back', async (_, bytes, ms) => {
      const request = bytes() // the same one each time: clients are fast
      let isOver = false
      const comeAndGo = async () => {
        for (let i = 0; i < 4 * CLIENTS; i += 1) comesBack(request, () => isOver)(port)
        await sleep(rounds(3_000, ms))
        isOver = true
        hangUp() // all at once
        await sleep(1_000)
      }
      expect(await peakDuring(comeAndGo(), expectAlive)).toBeLessThan(MEMORY)
    })

    test('send a body as large as may be, and leave while the store works', async () => {
      const request = post(largeUser(), CLOSE)
      let isOver = false
      const leaveEarly = async () => {
        for (let i = 0; i < CLIENTS; i += 1) leaves(request, 300, () => isOver)(port)
        for (let i = 0; i < rounds(5, 50); i += 1) await keepStoreBusy(place, 600)
        isOver = true
        hangUp()
        await sleep(1_000)
      }
      expect(await peakDuring(leaveEarly(), expectAlive)).toBeLessThan(MEMORY)
    })

    test.each(waiting)('%s', async (_, client) => {
      for (let i = 0; i < CLIENTS; i += 1) client()(port)
      expect(await peakDuring(sleep(2_000))).toBeLessThan(MEMORY)
    })
  })
})
