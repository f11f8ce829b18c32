// npm run bench: the service and a peer, in pairs of fresh processes, on both stores.
import { MongoClient } from 'mongodb'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { connect, load } from './load.ts'
import { createUsers, OWN_SCENARIOS, SCENARIOS, SECRET } from './scenarios.ts'
import type { Fixtures, Next } from './scenarios.ts'
import { start, type Program } from './server.ts'
import { METHOD, showHead, showRow, type Measurable, type Pair } from './table.ts'

const HELP = `npm run bench -- [--only TEXT] [--against FOLDER]
  --only     measure only the rows whose title has TEXT, such as "MongoDB" or "embedded: log-in, 64"
  --against  compare with the service that is built in another checkout, not with Fastify
PUT and pages are measured with --against: the Fastify peer has neither.
MongoDB is measured if MONGODB_URI is set. A row takes about a minute; both stores have 32 rows.`

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    against: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit()
}

/** How many connections send requests at once. */
const CONNECTIONS = [64, 1]

const here = import.meta.dirname
const folder = mkdtempSync(join(os.tmpdir(), 'users-service-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const builtIn = (checkout: string) => resolve(here, '../../..', checkout, 'dist/src/main.js')
const peer = values.against
  ? { name: 'other', file: builtIn(values.against) }
  : { name: 'Fastify', file: join(here, 'fastify.js') }
const service = { name: 'service', file: builtIn('.') }
const programs: Pair<Version> = [service, peer]
const scenarios = { ...SCENARIOS, ...(values.against && OWN_SCENARIOS) }

console.log(`Node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model ?? 'CPU'}
Medians of ${METHOD}, a second at a time:
µs of CPU time per request.
÷ is the median of the ratios of two measurements in turn: below 1, the service takes less.`)
const uri = process.env['MONGODB_URI']
const rows = (await measure('embedded')) + (uri ? await measure('MongoDB', uri) : 0)
if (!uri) console.log('MongoDB was not measured: MONGODB_URI is not set.')
if (rows === 0) throw new Error(`no title has the text "${values.only}"`)

/** @returns the number of rows */
async function measure(store: string, uri = ''): Promise<number> {
  const rows = Object.entries(scenarios)
    .flatMap(([name, next]) => CONNECTIONS.map((count) => ({ name, next, count })))
    .map((row) => ({ ...row, title: `${store}: ${row.name}, ${row.count} at once` }))
    .filter(({ title }) => title.includes(values.only))
  if (rows.length === 0) return 0

  const [first, second] = programs
  const filled = [await fill(first, uri), await fill(second, uri)] as const
  showHead([first.name, second.name])
  for (const { title, next, count } of rows)
    await showRow(title, filled, (program) => serve(program, next, count))
  if (uri) await Promise.all(filled.map(dropDatabase))
  return rows.length
}

type Version = Omit<Program, 'env'>

type Filled = Program & { fixtures: Fixtures }

/** Gives a program a folder, and a database, of its own, with users. */
async function fill(version: Version, uri: string): Promise<Filled> {
  const DATA_DIR = mkdtempSync(join(folder, 'data-'))
  const MONGODB_URI = uri.replace(/^(\w+(\+srv)?:..[^/?]+)(\/[^?]*)?/, `$1/bench-${randomUUID()}`)
  const program = { ...version, env: { DATA_DIR, MONGODB_URI, SIGNING_SECRET: SECRET } }
  const server = await start(program)
  const fixtures = await createUsers(server.port)
  await server.stop()
  return { ...program, fixtures }
}

/** A server whose CPU time for a request is measured, while `count` connections send requests. */
async function serve(program: Filled, next: Next, count: number): Promise<Measurable> {
  const { port, cpuTime, stop } = await start(program)
  const connections = Array.from({ length: count }, () => connect(port))
  const send = (seconds: number) => load(connections, seconds, () => next(program.fixtures))
  await send(3) // until V8 has compiled what is called often
  const measure = async () => {
    const before = await cpuTime()
    const requests = await send(1)
    return ((await cpuTime()) - before) / requests
  }
  const end = async () => {
    for (const { close } of connections) close()
    await stop()
  }
  return { measure, stop: end }
}

async function dropDatabase({ env }: Program): Promise<void> {
  const client = new MongoClient(env.MONGODB_URI)
  await client.db().dropDatabase()
  await client.close()
}
