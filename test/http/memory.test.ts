// The memory of the service, as a process, under hostile clients: a container of 256 MiB survives them all.
// Runs on Linux, which shows the memory of another process.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { DatabaseSync } from '@photostructure/sqlite'
import { openStore } from '../../src/store/open.ts'
import {
  AUTHORIZATION,
  bombs,
  CLOSE,
  get,
  hangUp,
  heard,
  login,
  many,
  oneByOne,
  says,
  whole,
  type Hostile,
} from '../support/hostile.ts'
import { IMAGE, killPrograms, serve, type Program } from '../support/program.ts'
import { rounds } from '../support/rounds.ts'
import { send } from '../support/service.ts'
import { describeStores, mongodbPlace, SECRET, type Place } from '../support/stores.ts'

/** What the kernel would kill the service for, in MB. */
const CONTAINER = 256

const LONG = { name: 'x'.repeat(1_000_000) }

const describeLinux = process.platform === 'linux' ? describe : describe.skip

describeLinux('a process of 256 MiB, on Linux,', () => {
  describeStores((kind) => {
    let place: Place
    let program: Program
    let port: number
    let longUser: string

    beforeAll(async () => {
      place = kind()
      const store = await openStore(place)
      longUser = (await store.create({ ...LONG, email: '' })).id
      await store.close()
      program = serve(place, { SIGNING_SECRET: SECRET, ...IMAGE })
      port = Number(new URL(await program.listening()).port)
    })
    afterAll(async () => {
      await killPrograms()
      await place.remove()
    })

    /** In MB: now, and the most so far. */
    const memory = (what: 'VmRSS' | 'VmHWM') => {
      const status = readFileSync(`/proc/${program.process.pid}/status`, 'utf8')
      return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)![1]) / 1024
    }

    /** By how much the memory rises during an attack. Meanwhile other requests are served. */
    async function rise(attack: () => Promise<unknown>): Promise<number> {
      writeFileSync(`/proc/${program.process.pid}/clear_refs`, '5') // forgets the most so far
      const before = memory('VmRSS')
      const state = { isOver: false }
      const others = (async () => {
        while (!state.isOver) {
          expect((await send(port, 'GET /users/x')).status).toBe(404)
          await sleep(20)
        }
      })()
      await attack().finally(() => (state.isOver = true))
      await others
      hangUp()
      expect(memory('VmHWM')).toBeLessThan(rounds(CONTAINER, 400)) // the long form has many more clients
      return memory('VmHWM') - before
    }

    const statuses = async (client: Hostile) =>
      [...(await heard(client, port)).matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((found) =>
        Number(found[1]),
      )

    test('rises by at most 100 MB under 60 connections of 3,000 pipelined requests', async () => {
      const requests = says('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(3_000))
      expect(await rise(() => many(60, () => heard(requests, port)))).toBeLessThan(100)
    })

    test('serves many clients that each read a user of a megabyte at the same moment', async () => {
      const read = says(get(`/users/${longUser}`, CLOSE))
      await rise(() =>
        many(rounds(60, 150), async () => expect(await statuses(read)).toEqual([200])),
      )
    })

    test('refuses log-ins with emails of a megabyte that come together', async () => {
      const body = JSON.stringify({ email: 'x'.repeat(1_000_000) })
      const bytes = whole(body, CLOSE)
      await rise(() =>
        many(rounds(30, 50), async () => expect(await statuses(says(bytes))).toEqual([401])),
      )
    })

    test.each([
      ['keeps names of a megabyte', { name: 'y'.repeat(1_000_000) }],
      [
        'drops what bodies have besides their fields',
        { name: 'y', more: Array.from({ length: 330_000 }, () => ({})) },
      ],
    ])('%s until the store has time for them', async (_, json) => {
      const body = JSON.stringify(json)
      const headers = `${AUTHORIZATION}Content-Type: application/json\r\n${CLOSE}`
      const rename = says(
        `PUT /users/${longUser} HTTP/1.1\r\nHost: localhost\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`,
      )
      const database = place.mongodbUri ? undefined : new DatabaseSync(`${place.dataDir}/users.db`)
      database?.exec('BEGIN IMMEDIATE') // every write waits
      setTimeout(() => database?.close(), 500)
      await rise(() =>
        many(rounds(30, 50), async () => expect(await statuses(rename)).toEqual([204])),
      )
    })

    test('sends lists of long users to many clients at once, and each of them gets all of its list', async () => {
      for (let i = 1; i < 15; i += 1) await send(port, 'POST /users', { json: LONG })
      const list = says(get('/users', CLOSE))
      await rise(() =>
        many(kind === mongodbPlace ? 6 : rounds(25, 100), async () => {
          let [length, end] = [0, '']
          const socket = list(port, (text) => {
            length += text.length
            end = (end + text).slice(-7)
          })
          await once(socket, 'close')
          expect(length).toBeGreaterThan(14_000_000)
          expect(end).toBe('\r\n0\r\n\r\n')
        }),
      )
    })

    test('rises by at most 200 MB when clients leave 20 lists of 15 MB unread', async () => {
      const readsLittle = async () => {
        const socket = says(get('/users'))(port)
        await once(socket, 'data')
        socket.pause()
      }
      const attack = () => many(20, readsLittle).then(() => sleep(300))
      expect(await rise(attack)).toBeLessThan(200)
    })

    if (kind === mongodbPlace) return // what follows does not reach the store

    test.each(Object.entries(bombs))('refuses bombs of %s', async (coding, bomb) => {
      const bytes = whole(bomb, `Content-Encoding: ${coding}\r\n${CLOSE}`)
      const attack = () =>
        many(rounds(10, 100), async () => expect(await statuses(says(bytes))).toEqual([413]))
      expect(await rise(attack)).toBeLessThan(120)
    })

    test('reads compressed bodies of a megabyte that come together', async () => {
      const headers = 'Content-Encoding: gzip\r\nConnection: close\r\n'
      const bytes = whole(gzipSync(randomBytes(1_000_000)), headers)
      await rise(() =>
        many(rounds(50, 600), async () =>
          expect([400, 408]).toContain((await statuses(says(bytes)))[0]),
        ),
      )
    })

    test('reads the beginning of thousands of bodies that arrive at the same moment', async () => {
      const part = whole(' '.repeat(1_000_000)).subarray(0, 130_000)
      const attack = async () => {
        const sockets = []
        for (let i = 0; i < 2_900; i += 1) {
          sockets.push(says('')(port))
          if (i % 20 === 0) await sleep(5)
        }
        for (const socket of sockets) socket.write(part)
        await sleep(1_000)
      }
      expect(await rise(attack)).toBeLessThan(180)
    })

    test('reads bodies in chunks of one byte', async () => {
      const body = `{"email":"none"${' '.repeat(rounds(50_000, 200_000))}}`
      const bytes = oneByOne(body).replace('\r\n', `\r\n${CLOSE}`)
      const attack = () => many(6, async () => expect(await statuses(says(bytes))).toEqual([401]))
      expect(await rise(attack)).toBeLessThan(120)
    })

    test('holds 600 connections with 100 headers each, idle or in the middle of a body', async () => {
      const headers = headersOf(97)
      const idle = says(`GET / HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`)
      const unfinished = says(login(`Content-Length: 100\r\n${headers}`))
      const attack = async () => {
        for (let i = 0; i < 300; i += 1) {
          idle(port)
          unfinished(port)
          if (i % 20 === 0) await sleep(20)
        }
        await sleep(300)
      }
      expect(await rise(attack)).toBeLessThan(200)
    })

    test.each([
      ['headers', 'GET / HTTP/1.1\r\nHost: localhost\r\n'],
      ['trailers', `${login('Transfer-Encoding: chunked\r\n')}0\r\n`],
    ])('holds 2,000 connections with 2,600 unfinished %s each', async (_, head) => {
      const unfinished = says(head + headersOf(2_600))
      const attack = async () => {
        for (let i = 0; i < 2_000; i += 1) {
          unfinished(port)
          if (i % 20 === 0) await sleep(10)
        }
        await sleep(300)
      }
      expect(await rise(attack)).toBeLessThan(140)
    })
  })
})

/** Short headers, each with a name of its own. */
const headersOf = (count: number) =>
  Array.from({ length: count }, (_, i) => `${i.toString(36)}:\r\n`).join('')
