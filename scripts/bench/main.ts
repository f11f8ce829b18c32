// npm run bench: the service beside a node:http floor and a Fastify peer, in turns, on both stores.
//   --seconds N   how long each measurement takes (2)
//   --rounds N    how often each server has its turn; medians are shown (5)
//   --only TEXT   just the scenarios whose store and name hold the text
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { MongoClient } from 'mongodb'
import { openStore } from '../../src/store/open.ts'
import type { User } from '../../src/store/user-store.ts'
import { createTokens } from '../../src/tokens.ts'
import { measureList } from './list.ts'
import { load, request, type Exchange } from './load.ts'
import { SECRET, start, type Kind, type Place, type Server } from './server.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
  },
})
const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
if (!(seconds > 0 && rounds >= 1)) throw new Error('--seconds and --rounds are numbers above 0')

const tokens = createTokens(SECRET, 86_400)
const pick = <T>(from: readonly T[]): T => from[Math.floor(Math.random() * from.length)]!
const median = (numbers: number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!

interface Scenario {
  name: string
  connections: number
  next: () => Exchange
}

function scenariosOn(users: User[]): Scenario[] {
  const token = tokens.issue(users[0]!.id)
  const thousand = Array.from({ length: 1000 }, (_, i) => tokens.issue(users[i % users.length]!.id))
  const read = (bearer = token): Exchange => {
    const { id } = pick(users)
    return { request: request(`GET /users/${id}`, bearer), status: 200, holds: id }
  }
  const login = (): Exchange => {
    const { email } = pick(users)
    return { request: request('POST /login', undefined, { email }), status: 200, holds: 'token' }
  }
  const create = (): Exchange => {
    const email = `${randomUUID()}@example.com`
    const sent = request('POST /users', token, { name: 'Grace Hopper', email })
    return { request: sent, status: 201, holds: email }
  }
  const refused = (): Exchange => {
    const { id } = pick(users)
    return { request: request(`GET /users/${id}`, 'x'), status: 401, holds: 'bearer' }
  }
  const mixed = () => pick([read, read, read, read, read, read, read, login, create, refused])()
  return [
    { name: 'read', connections: 64, next: () => read() },
    { name: 'read, 1,000 tokens', connections: 64, next: () => read(pick(thousand)) },
    { name: 'read, 8 connections', connections: 8, next: () => read() },
    { name: 'read, 1 connection', connections: 1, next: () => read() },
    { name: 'log-in', connections: 64, next: login },
    { name: 'create', connections: 64, next: create },
    { name: 'refused', connections: 64, next: refused },
    { name: 'mixed', connections: 64, next: mixed },
  ]
}

/** What was measured of a server, by the name of the column. */
type Row = Record<string, number>

const fixed = (number: number) =>
  number >= 100 ? number.toFixed(0) : number >= 10 ? number.toFixed(1) : number.toFixed(2)

function show(title: string, rows: Map<Kind, Row>): void {
  const [mine, peer] = [rows.get('service')!, rows.get('fastify')!]
  const names = Object.keys(mine)
  const line = (cells: string[]) => console.log(cells.map((cell) => cell.padStart(14)).join(''))
  console.log(`\n${title}`)
  line(['', ...names])
  for (const [kind, row] of rows) line([kind, ...names.map((name) => fixed(row[name] ?? NaN))])
  line(['service/fastify', ...names.map((name) => fixed(mine[name]! / peer[name]!))])
}

let wrongAnswers = 0

async function measure(server: Server, { connections, next }: Scenario): Promise<Row> {
  await load(server.port, connections, seconds / 10, next)
  const before = await server.usage()
  const {
    requests,
    wrong,
    seconds: took,
    latencies,
  } = await load(
    server.port,
    connections,
    seconds,
    server.kind === 'floor' ? () => ({ ...next(), status: 200, holds: '' }) : next,
  )
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

/** Lets each server have its turns, first one, then another. */
async function alternate(
  kinds: Kind[],
  turn: (kind: Kind) => Promise<Row>,
): Promise<Map<Kind, Row>> {
  const seen = new Map<Kind, Row[]>(kinds.map((kind) => [kind, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of round % 2 ? kinds.toReversed() : kinds)
      seen.get(kind)!.push(await turn(kind))
  }
  const medians = (rows: Row[]): Row =>
    Object.fromEntries(
      Object.keys(rows[0]!).map((name) => [name, median(rows.map((row) => row[name]!))]),
    )
  return new Map([...seen].map(([kind, rows]) => [kind, medians(rows)]))
}

/** Makes `count` users at `place`. */
async function fill(place: Place, count: number): Promise<User[]> {
  const store = await openStore(place)
  const users: User[] = []
  for (let i = 0; i < count; i += 1000) {
    const some = Array.from({ length: Math.min(1000, count - i) }, (_, j) =>
      store.create({ name: `User ${i + j} of the benchmark`, email: `user${i + j}@example.com` }),
    )
    users.push(...(await Promise.all(some)))
  }
  await store.close()
  return users
}

async function benchmark(store: string, newPlace: () => Place): Promise<void> {
  const wanted = (name: string) => `${store} ${name}`.includes(values.only)
  const place = newPlace()
  const users = await fill(place, 10_000)
  const scenarios = scenariosOn(users).filter(({ name }) => wanted(name))
  if (scenarios.length > 0) {
    const kinds: Kind[] = ['floor', 'service', 'fastify']
    const servers = new Map<Kind, Server>()
    for (const kind of kinds) servers.set(kind, await start(kind, place))
    for (const scenario of scenarios) {
      const rows = await alternate(kinds, (kind) => measure(servers.get(kind)!, scenario))
      show(`${store}: ${scenario.name}, ${scenario.connections} connections`, rows)
    }
    for (const server of servers.values()) await server.stop()
  }

  for (const [count, readers] of [
    [10_000, 1],
    [200_000, 1],
    [200_000, 4],
  ] as const) {
    const name = `list of ${count}, ${readers} at once`
    if (!wanted(name)) continue
    const listed = newPlace()
    const [{ id }] = (await fill(listed, count)) as [User]
    const rows = await alternate(['service', 'fastify'], async (kind) => {
      const server = await start(kind, listed)
      const warm = { readers: 1, count, token: tokens.issue(id), id }
      if (count === 10_000) for (let i = 0; i < 5; i += 1) await measureList(server, warm)
      const { firstByte, megabytesPerSecond, cpu, peak, worstLookUp, wrong } = await measureList(
        server,
        { ...warm, readers },
      )
      wrongAnswers += wrong
      await server.stop()
      return {
        'first byte ms': firstByte,
        'MB/s': megabytesPerSecond,
        'CPU ms': cpu,
        'peak MiB': peak,
        'look-up ms': worstLookUp,
      }
    })
    show(`${store}: ${name}`, rows)
  }

  if (wanted('start')) {
    const rows = await alternate(['service', 'fastify'], async (kind) => {
      const server = await start(kind, place)
      const { memory } = await server.usage()
      await server.stop()
      return { 'start ms': server.startup, 'idle MiB': memory / 1024 / 1024 }
    })
    show(`${store}: start to first answer, idle memory`, rows)
  }
}

const folder = mkdtempSync(join(os.tmpdir(), 'users-service-bench-'))
const newFolder = () => mkdtempSync(join(folder, 'place-'))
console.log(`Node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model ?? 'CPU'}`)
console.log(`${rounds} rounds of ${seconds} s, medians; CPU of the server's process a request`)

if ('embedded'.includes(values.only.split(' ')[0]!) || !values.only.startsWith('MongoDB')) {
  await benchmark('embedded', () => ({ mongodbUri: undefined, dataDir: newFolder() }))
}

const uri = process.env['MONGODB_URI']
if (!uri) {
  console.log('\nMongoDB WAS NOT MEASURED: no MONGODB_URI')
} else if (!values.only.startsWith('embedded')) {
  const client = await new MongoClient(uri).connect()
  const { version, gitVersion } = await client.db('admin').command({ buildInfo: 1 })
  console.log(`\nMongoDB ${version} ${gitVersion ?? ''} at ${client.options.hosts.join()}`)
  const names: string[] = []
  await benchmark('MongoDB', () => {
    const url = new URL(uri)
    url.pathname = `bench-${randomUUID()}`
    names.push(url.pathname.slice(1))
    return { mongodbUri: url.href, dataDir: newFolder() }
  })
  for (const name of names) await client.db(name).dropDatabase()
  await client.close()
}
rmSync(folder, { recursive: true })
console.log(`\n${wrongAnswers} wrong answers`)
process.exitCode = wrongAnswers > 0 ? 1 : 0
