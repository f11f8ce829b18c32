// npm run bench: the service beside a node:http floor and a Fastify peer, in turns, on both stores.
// Every answer is checked; a wrong one fails the run.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { MongoClient } from 'mongodb'
import { openStore } from '../../src/store/open.ts'
import type { User } from '../../src/store/user-store.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { measureList } from './list.ts'
import { load } from './load.ts'
import { alternate, show, type Row } from './rounds.ts'
import { LISTS, scenariosOn, type Scenario } from './scenarios.ts'
import { SECRET, start, type Kind, type Place, type Server } from './server.ts'

const HELP = `npm run bench -- [--seconds 2] [--rounds 5] [--only TEXT]
  --seconds  how long each measurement takes
  --rounds   how many turns each server has; medians are shown
  --only     just what has TEXT in its title, such as "MongoDB" or "log-in"
MONGODB_URI is measured, too, if it is set. It takes a quarter of an hour.`

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
if (values.help || !(seconds > 0 && rounds >= 1)) {
  console.log(HELP)
  process.exit(values.help ? 0 : 2)
}

const tokens = createTokens([SECRET], 86_400)
const folder = mkdtempSync(join(os.tmpdir(), 'users-service-bench-'))
const newFolder = () => mkdtempSync(join(folder, 'place-'))
let wrongAnswers = 0

console.log(`Node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model ?? 'CPU'}`)
console.log(`Medians of ${rounds} turns of ${seconds} s; CPU time is that of the server's process.`)

await benchmark('embedded', () => ({ mongodbUri: undefined, dataDir: newFolder() }))
const uri = process.env['MONGODB_URI']
if (uri) await benchmarkMongodb(uri)
else console.log('\nMongoDB WAS NOT MEASURED: no MONGODB_URI')

rmSync(folder, { recursive: true })
console.log(`\n${wrongAnswers} wrong answers`)
process.exitCode = wrongAnswers > 0 ? 1 : 0

async function benchmarkMongodb(uri: string): Promise<void> {
  const client = await new MongoClient(uri).connect()
  const { version, gitVersion } = await client.db('admin').command({ buildInfo: 1 })
  console.log(`\nMongoDB says that it is ${version} ${gitVersion ?? ''}`)
  const names: string[] = []
  await benchmark('MongoDB', () => {
    const place = new URL(uri)
    const name = `bench-${randomUUID()}`
    place.pathname = name
    names.push(name)
    return { mongodbUri: place.href, dataDir: newFolder() }
  })
  for (const name of names) await client.db(name).dropDatabase()
  await client.close()
}

async function benchmark(store: string, newPlace: () => Place): Promise<void> {
  const wanted = ({ name }: { name: string }) => `${store}: ${name}`.includes(values.only)
  const startup = { name: 'start to first answer, idle memory' }

  const place = newPlace()
  const users = await fill(place, 10_000)
  await benchmarkRequests(store, place, scenariosOn(users, tokens).filter(wanted))
  for (const list of LISTS.filter(wanted)) await benchmarkList(store, newPlace(), list)
  if (wanted(startup)) await benchmarkStart(`${store}: ${startup.name}`, place)
}

/** Makes `count` users at `place`. */
async function fill(place: Place, count: number): Promise<User[]> {
  const store = await openStore(place)
  const users: User[] = []
  while (users.length < count) {
    const some = Array.from({ length: 1_000 }, (_, i) => {
      const number = users.length + i
      return store.create({ name: `User ${number}`, email: `user${number}@example.com` })
    })
    users.push(...(await Promise.all(some)))
  }
  await store.close()
  return users
}

async function benchmarkRequests(store: string, place: Place, scenarios: Scenario[]) {
  if (scenarios.length === 0) return
  const kinds: Kind[] = ['floor', 'service', 'fastify']
  const servers = new Map<Kind, Server>()
  for (const kind of kinds) servers.set(kind, await start(kind, place))
  for (const scenario of scenarios) {
    const rows = await alternate(kinds, rounds, (kind) => measure(servers.get(kind)!, scenario))
    show(`${store}: ${scenario.name}`, rows)
  }
  for (const server of servers.values()) await server.stop()
}

async function measure(server: Server, { connections, next }: Scenario): Promise<Row> {
  const { port, kind } = server
  const asked = kind === 'floor' ? () => ({ ...next(), status: 200, holds: '' }) : next
  await load(port, connections, seconds / 10, asked)
  const before = await server.usage()
  const {
    requests,
    wrong,
    seconds: took,
    latencies,
  } = await load(port, connections, seconds, asked)
  const after = await server.usage()
  wrongAnswers += wrong
  const at = (share: number) => latencies[Math.floor(latencies.length * share)]!
  return {
    'requests/s': requests / took,
    'p50 ms': at(0.5),
    'p99 ms': at(0.99),
    'CPU µs': (after.cpu - before.cpu) / requests,
  }
}

async function benchmarkList(store: string, place: Place, list: (typeof LISTS)[number]) {
  const { name, count, readers } = list
  const [{ id }] = (await fill(place, count)) as [User]
  const asked = { count, token: tokens.issue(id), id }
  const rows = await alternate(['service', 'fastify'], rounds, async (kind) => {
    const server = await start(kind, place) // anew, for its memory at its highest
    const warmups = Math.floor(50_000 / count)
    for (let i = 0; i < warmups; i += 1) await measureList(server, { ...asked, readers: 1 })
    const { wrong, ...row } = await measureList(server, { ...asked, readers })
    wrongAnswers += wrong
    await server.stop()
    return row
  })
  show(`${store}: ${name}`, rows)
}

async function benchmarkStart(title: string, place: Place): Promise<void> {
  const rows = await alternate(['service', 'fastify'], rounds, async (kind) => {
    const server = await start(kind, place)
    const { memory } = await server.usage()
    await server.stop()
    return { 'start ms': server.startup, 'idle MiB': memory / 1024 / 1024 }
  })
  show(title, rows)
}
