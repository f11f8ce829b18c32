// All kinds of hostile clients at once, for a minute, beside ordinary clients. The service is a process.
import { expect, jest, test } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { hangUp, says, type Hostile } from '../support/clients.ts'
import { everyKind } from '../support/hostile.ts'
import { amid } from '../support/ordinary.ts'
import { get } from '../support/requests.ts'
import { IMAGE, serve, usePlace } from '../support/program.ts'
import { send } from '../support/service.ts'
import { createAt, SECRET } from '../support/stores.ts'
import { newUser } from '../support/users.ts'

const SECONDS = 60
/** Of each kind, at once: no more than leaves two cores some time. */
const CLIENTS = 2
const IDLE = 200
/** With 5 kB each, a list that does not fit into what the kernel holds for a client that does not read. */
const USERS = 2_000
const LARGE = { name: 'x'.repeat(5_000), email: '' }
/** How much more memory the last third may take at the most than the first one, in MB. */
const TOLERANCE = 50

/** Linux tells the memory and the descriptors of another process. */
const testLinux = process.platform === 'linux' ? test : test.skip
jest.setTimeout((SECONDS + 120) * 1000)

const place = usePlace()

testLinux('hostile clients of every kind fail no others, and leave nothing open', async () => {
  await createAt(place, ...Array.from({ length: USERS }, () => newUser(LARGE)))
  const { port, memory, descriptors, errors } = await start()
  const begin = performance.now()
  const isOver = () => performance.now() - begin > SECONDS * 1000
  await amid(list(port), port)
  const before = descriptors()

  const failures: string[] = []
  const onText = (text: string) => {
    if (/HTTP\/1\.1 5\d\d /.test(text)) failures.push(text.slice(0, 500))
  }
  const attack = async (client: Hostile) => {
    while (!isOver()) {
      const socket = client(port, onText)
      await new Promise((resolve) => socket.once('close', resolve))
      await sleep(500)
    }
  }
  const samples: number[] = []
  const watch = async () => {
    for (; !isOver(); await sleep(1_000)) {
      samples.push(memory())
      await list(port)
    }
    hangUp()
  }
  const clients = [
    ...Array.from({ length: CLIENTS }, () => Object.values(everyKind)).flat(),
    ...Array.from({ length: IDLE }, () => says(get('/nothing'))),
  ]
  const hostile = Promise.all(clients.map(attack))
  await Promise.all([amid(hostile, port), amid(hostile, port), watch()])
  while (descriptors() > before) await sleep(100)

  const most = (from: number, to: number) =>
    Math.max(...samples.slice(samples.length * from, samples.length * to))
  const [first, last] = [most(0.1, 0.4), most(0.7, 1)]
  console.log({ 'memory in MB at the most': { first, last, after: memory() } })
  expect(failures).toEqual([])
  expect(errors).toEqual([])
  expect(last).toBeLessThan(first + TOLERANCE)
})

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

/** The list is whole; ordinary clients may have a user in it. */
async function list(port: number): Promise<void> {
  const { status, json } = await send(port, 'GET /users')
  expect(status).toBe(200)
  expect(json.filter(({ email }: { email: string }) => email === '').length).toBe(USERS)
}
