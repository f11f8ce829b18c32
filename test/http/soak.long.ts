// All kinds of hostile clients at once, for a minute, beside ordinary clients. The service is a process.
import { afterAll, describe, expect, test } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import type net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStore } from '../../src/store/open.ts'
import { everyKind, get, says, type Hostile } from '../support/hostile.ts'
import { IMAGE, killPrograms, serve } from '../support/program.ts'
import { send } from '../support/service.ts'
import { SECRET, sqlitePlace } from '../support/stores.ts'

const SECONDS = 60
/** Of each kind, at once: no more than leaves two cores some time. */
const CLIENTS = 2
const IDLE = 200
/** With 5 kB each, a list that does not fit into what the kernel holds for a client that does not read. */
const USERS = 2_000
/** How much more memory the last third may take at the most than the first one, in MB. */
const TOLERANCE = 50

/** Linux tells the memory and the descriptors of another process. */
const describeLinux = process.platform === 'linux' ? describe : describe.skip

const place = sqlitePlace()
afterAll(async () => {
  await killPrograms()
  await place.remove()
})

describeLinux('hostile clients of every kind, on Linux,', () => {
  test(
    'do not keep others from their responses, and leave nothing open',
    async () => {
      await fill()
      const { port, memory, descriptors, errors } = await start()
      const begin = performance.now()
      const seconds = () => (performance.now() - begin) / 1000
      await ordinary(port, 'first')
      await list(port)
      const before = descriptors()

      const seen = { answers: 0, failures: [] as string[], rounds: 0, ordinary: 0 }
      const heard = (text: string) => {
        seen.answers += text.split('HTTP/1.1 ').length - 1
        if (/HTTP\/1\.1 5\d\d /.test(text)) seen.failures.push(text.slice(0, 500))
      }
      const open = new Set<net.Socket>()
      const attack = async (client: Hostile) => {
        while (seconds() < SECONDS) {
          const socket = client(port, heard)
          open.add(socket)
          await new Promise((resolve) => socket.once('close', resolve))
          open.delete(socket)
          seen.rounds += 1
          await sleep(500)
        }
      }
      const use = async (name: string) => {
        while (seconds() < SECONDS) {
          await ordinary(port, `${name}-${seen.ordinary}`)
          if ((seen.ordinary += 1) % 10 === 0) await list(port)
          await sleep(50)
        }
      }
      const samples: { at: number; memory: number; descriptors: number }[] = []
      const watch = async () => {
        for (; seconds() < SECONDS; await sleep(1_000)) {
          samples.push({ at: seconds(), memory: memory(), descriptors: descriptors() })
        }
        for (const socket of open) socket.destroy()
      }
      const clients = [
        ...Array.from({ length: CLIENTS }, () => Object.values(everyKind)).flat(),
        ...Array.from({ length: IDLE }, () => says(get('/nothing'))),
      ]
      const hostile = clients.map(attack)
      await Promise.all([...hostile, use('a'), use('b'), watch()])
      while (descriptors() > before) await sleep(100)

      const most = (from: number, to: number) =>
        Math.max(
          ...samples
            .filter(({ at }) => at >= SECONDS * from && at < SECONDS * to)
            .map(({ memory }) => memory),
        )
      const thirds = [most(0.1, 0.4), most(0.4, 0.7), most(0.7, 1)] as const
      console.log({
        seconds: SECONDS,
        'hostile connections at once, in all': [hostile.length, seen.rounds],
        'answers to them': seen.answers,
        'rounds of ordinary requests': seen.ordinary,
        'descriptors before, at the most, after': [
          before,
          Math.max(...samples.map((sample) => sample.descriptors)),
          descriptors(),
        ],
        'memory in MB at the most: first, second, last third; after': [...thirds, memory()],
      })
      expect(seen.failures).toEqual([])
      expect(errors).toEqual([])
      expect(thirds[2]).toBeLessThan(thirds[0] + TOLERANCE)
    },
    (SECONDS + 120) * 1000,
  )
})

async function fill(): Promise<void> {
  const store = await openStore(place)
  const name = 'x'.repeat(5_000)
  await Promise.all(Array.from({ length: USERS }, () => store.create({ name, email: '' })))
  await store.close()
}

async function start() {
  const program = serve(place, { SIGNING_SECRET: SECRET, ...IMAGE })
  const port = Number(new URL(await program.listening()).port)
  const { process } = program
  const errors: string[] = []
  // Its log is too long to keep.
  process.stdout!.removeAllListeners('data').on('data', (lines: Buffer) => {
    if (/"level":[56]0/.test(lines.toString())) errors.push(lines.toString())
  })
  const read = (file: string) => readFileSync(`/proc/${process.pid}/${file}`, 'utf8')
  return {
    port,
    errors,
    /** In MB. */
    memory: () => Math.round(Number(/VmRSS:\s+(\d+)/.exec(read('status'))![1]) / 1024),
    descriptors: () => readdirSync(`/proc/${process.pid}/fd`).length,
  }
}

/** What a client does that means no harm; every answer is what it should be. */
async function ordinary(port: number, name: string): Promise<void> {
  const email = `${name}@example.com`
  const made = await send(port, 'POST /users', { json: { name, email } })
  const { id } = made.json
  expect([made.status, made.json]).toEqual([201, { id, name, email }])
  expect((await send(port, `PUT /users/${id}`, { json: { name: 'Ada' } })).status).toBe(204)
  expect((await send(port, `GET /users/${id}`)).json).toEqual({ id, name: 'Ada', email })
  const { json } = await send(port, 'POST /login', { authorization: undefined, json: { email } })
  const authorization = `Bearer ${json.token}`
  expect((await send(port, `DELETE /users/${id}`, { authorization })).status).toBe(204)
  expect((await send(port, `GET /users/${id}`)).status).toBe(404)
}

/** The list is whole; ordinary clients may have a user in it. */
async function list(port: number): Promise<void> {
  const { status, json } = await send(port, 'GET /users')
  expect(status).toBe(200)
  expect(json.filter(({ email }: { email: string }) => email === '')).toHaveLength(USERS)
}
