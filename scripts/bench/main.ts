// npm run bench: the service and its peers, in turns of fresh processes, on both stores.
import { MongoClient } from 'mongodb'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connect, load } from './load.ts'
import { importManyUsers } from './many-users.ts'
import { createUsers, fixturesOf, LIST, OWN_SCENARIOS, SCENARIOS, SECRET } from './scenarios.ts'
import type { Fixtures, Next } from './scenarios.ts'
import { start, type Program } from './server.ts'
import { showHead, showRows, TURNS } from './table.ts'

const HELP = `npm run bench -- [--seconds 0.25] [--only TEXT] [--against FOLDER | --users N]
  --seconds  how long each turn takes
  --only     measure only what has TEXT in a title, such as "MongoDB" or "embedded: log-in"
  --against  compare with the service that is built in another checkout, not with Fastify
  --users    import N users, and compare the service that has them with one that has 10,000
PUT and pages are measured with the last two: the Fastify peer has neither.
MongoDB is measured if MONGODB_URI is set. Both stores take about 15 minutes.`

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '0.25' },
    only: { type: 'string', default: '' },
    against: { type: 'string' },
    users: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const seconds = Number(values.seconds)
const users = Number(values.users ?? 10_000)
if (values.help || !(seconds > 0) || !(users > 0)) {
  console.log(HELP)
  process.exit(values.help ? 0 : 2)
}

/** How many connections send requests at once. */
const CONNECTIONS = [64, 8, 1]

const here = import.meta.dirname
const folder = mkdtempSync(join(os.tmpdir(), 'users-service-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const service = (checkout: string) => resolve(here, '../../..', checkout, 'dist/src/main.js')
const peer = values.against
  ? { name: 'other', file: service(values.against) }
  : { name: 'Fastify', file: join(here, 'fastify.js') }
const own = { name: 'service', file: service('.') }
const sizes = [users, 10_000].map((users) => ({ ...own, name: users.toLocaleString('en'), users }))
const programs: Version[] = values.users ? sizes : [own, peer]
/** The list comes first: later there are more users. */
const scenarios = {
  ...(values.users ? {} : LIST),
  ...SCENARIOS,
  ...((values.users ?? values.against) ? OWN_SCENARIOS : {}),
}

console.log(`Node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model ?? 'CPU'}
Medians of ${TURNS} turns of ${seconds} s, each with a process that was just started:
µs of CPU time per request, unless the row says ms or MB.
÷ is the median of the ratios within a turn: below 1, the service takes less.`)
await measure('embedded')
const uri = process.env['MONGODB_URI']
if (uri) await measure('MongoDB', uri)
else console.log('MongoDB was not measured: MONGODB_URI is not set.')

async function measure(store: string, uri = ''): Promise<void> {
  const isWanted = ({ titles }: Measurement) => titles.some((title) => title.includes(values.only))
  const wanted = measurementsOf(store).filter(isWanted)
  if (wanted.length === 0) return

  const filled: Filled[] = []
  for (const program of programs) filled.push(await fill(program, uri))
  showHead(programs.map(({ name }) => name))
  for (const { titles, measure } of wanted) await showRows(titles, filled, measure)
  if (uri) await Promise.all(filled.map(dropDatabase))
}

interface Measurement {
  titles: string[]
  measure: (program: Filled) => Promise<number[]>
}

/** `users` are imported; without them, 10,000 are created with requests. */
type Version = Omit<Program, 'env'> & { users?: number }

type Filled = Program & { fixtures: Fixtures }

function measurementsOf(store: string): Measurement[] {
  const requests = Object.entries(scenarios).map(([name, next]) => ({
    titles: CONNECTIONS.map((count) => `${store}: ${name}, ${count} at once`),
    measure: (program: Filled) => cpuOf(program, next),
  }))
  const titles = [`${store}: start to first response, ms`, `${store}: idle memory, MB`]
  return [...requests, { titles, measure: startAndIdle }]
}

/** Gives a program a folder, and a database, of its own, with users. */
async function fill({ users, ...version }: Version, uri: string): Promise<Filled> {
  const DATA_DIR = mkdtempSync(join(folder, 'data-'))
  const MONGODB_URI = uri.replace(/^(\w+(\+srv)?:..[^/?]+)(\/[^?]*)?/, `$1/bench-${randomUUID()}`)
  const program = { ...version, env: { DATA_DIR, MONGODB_URI, SIGNING_SECRET: SECRET } }
  if (users) return { ...program, fixtures: fixturesOf(await importManyUsers(users, program.env)) }
  const server = await start(program)
  const fixtures = await createUsers(server.port)
  await server.stop()
  return { ...program, fixtures }
}

/** The CPU time of a request, for each of CONNECTIONS, in a process that is started for it. */
async function cpuOf(program: Filled, next: Next): Promise<number[]> {
  const server = await start(program)
  const loadOn = async (count: number, seconds: number) => {
    const opened = Array.from({ length: count }, () => connect(server.port))
    await load(opened, 0, () => next(program.fixtures)) // opens the connections before the measurement
    const before = await server.usage()
    const requests = await load(opened, seconds, () => next(program.fixtures))
    const after = await server.usage()
    for (const { close } of opened) close()
    return (after.cpu - before.cpu) / requests
  }
  await loadOn(64, 6 * seconds) // until V8 has compiled what is called often
  const times: number[] = []
  for (const count of CONNECTIONS) times.push(await loadOn(count, seconds))
  await server.stop()
  return times
}

async function startAndIdle(program: Program): Promise<number[]> {
  const server = await start(program)
  await sleep(500)
  const { memory } = await server.usage()
  await server.stop()
  return [server.startup, memory / 1_000_000]
}

async function dropDatabase({ env }: Program): Promise<void> {
  const client = new MongoClient(env.MONGODB_URI)
  await client.db().dropDatabase()
  await client.close()
}
