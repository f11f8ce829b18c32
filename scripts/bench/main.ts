// npm run bench: the service and its peers, in short turns, on both stores.
import { MongoClient } from 'mongodb'
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connect, load, type Exchange } from './load.ts'
import { importManyUsers } from './many-users.ts'
import { createUsers, fixturesOf, SCALE_SCENARIOS, SCENARIOS, SECRET } from './scenarios.ts'
import { start, type Program, type Server } from './server.ts'
import { showHead, showRows, TURNS } from './table.ts'

const HELP = `npm run bench -- [--seconds 0.25] [--only TEXT] [--against FOLDER | --users N]
  --seconds  how long each turn takes
  --only     measure only the rows that have TEXT in their title, such as "MongoDB" or "log-in"
  --against  compare with the service that is built in another checkout, not with the peers
  --users    import N users, and compare the service that has them with one that has 10,000
MongoDB is measured if MONGODB_URI is set, with a peer in Go if \`go\` can build it.
Both stores take about 13 minutes.`

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

const here = import.meta.dirname
const folder = mkdtempSync(join(os.tmpdir(), 'users-service-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

const service = (checkout: string) => resolve(here, '../../..', checkout, 'dist/src/main.js')
const fastify = join(here, 'fastify.js')
const other = values.against && { name: 'other', file: service(values.against) }
const PEERS: Program[] = [
  { name: 'Fastify', file: fastify },
  { name: 'observed', file: fastify, env: { OBSERVED: '1' } },
]
const own = { name: 'service', file: service('.') }
const sizes = [users, 10_000].map((users) => ({ ...own, name: users.toLocaleString('en'), users }))
const programs: Program[] = values.users ? sizes : [own, ...(other ? [other] : PEERS)]
const scenarios = values.users ? SCALE_SCENARIOS : SCENARIOS

console.log(`Node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model ?? 'CPU'}
Medians of ${TURNS} turns of ${seconds} s: µs of CPU time per request, unless the row says ms or MB.
÷ is the median of the ratios within a turn: below 1, the service takes less.`)
await measure('embedded', programs)
const uri = process.env['MONGODB_URI']
if (uri) await measure('MongoDB', [...programs, ...goPeer()], uri)
else console.log('MongoDB was not measured: MONGODB_URI is not set.')

/** The peer in Go, if this machine can build it and there are peers. */
function goPeer(): Program[] {
  if (!programs.includes(PEERS[0]!)) return []
  const execPath = join(folder, 'go')
  const isBuilt = spawnSync('go', ['build', '-C', join(here, '../go'), '-o', execPath]).status === 0
  return isBuilt ? [{ name: 'Go', file: '', execPath }] : []
}

async function measure(store: string, programs: Program[], uri?: string): Promise<void> {
  const isWanted = (title: string) => title.includes(values.only)
  const rows = scenarios
    .flatMap(({ name, next, connections }) =>
      connections.map((count) => ({ title: `${store}: ${name}, ${count} at once`, next, count })),
    )
    .filter(({ title }) => isWanted(title))
  const startTitle = `${store}: start to first response, ms`
  if (rows.length === 0 && !isWanted(startTitle)) return

  const isolated = programs.map((program) => withOwnData(program, uri))
  const servers = []
  for (const program of isolated) {
    const users = program.users && (await importManyUsers(program.users, program.env))
    const server = await start(program)
    const fixtures = users ? fixturesOf(users) : await createUsers(server.port)
    servers.push({ ...server, fixtures })
  }
  showHead(programs.map(({ name }) => name))
  for (const { title, next, count } of rows) {
    await showRows([title], servers, (server) => cpuOf(server, count, () => next(server.fixtures)))
  }
  const memoryOf = async ({ usage }: Server) => [(await usage()).memory / 1_000_000]
  await showRows([`${store}: memory after that, MB`], servers, memoryOf)
  for (const { stop } of servers) await stop()
  if (isWanted(startTitle))
    await showRows([startTitle, `${store}: idle memory, MB`], isolated, startAndIdle)
  if (uri) await Promise.all(isolated.map(dropDatabase))
}

/** Gives a program a folder, and a database, of its own. */
function withOwnData({ env, ...program }: Program, uri = '') {
  const DATA_DIR = mkdtempSync(join(folder, 'data-'))
  const MONGODB_URI = uri.replace(/^(\w+(\+srv)?:..[^/?]+)(\/[^?]*)?/, `$1/bench-${randomUUID()}`)
  return { ...program, env: { ...env, DATA_DIR, MONGODB_URI, SIGNING_SECRET: SECRET } }
}

async function cpuOf(server: Server, count: number, next: () => Exchange): Promise<number[]> {
  const connections = Array.from({ length: count }, () => connect(server.port))
  await load(connections, 0, next) // opens the connections before the measurement
  const before = await server.usage()
  const requests = await load(connections, seconds, next)
  const after = await server.usage()
  for (const { close } of connections) close()
  return [(after.cpu - before.cpu) / requests]
}

async function startAndIdle(program: Program): Promise<number[]> {
  const server = await start(program)
  await sleep(500)
  const { memory } = await server.usage()
  await server.stop()
  return [server.startup, memory / 1_000_000]
}

async function dropDatabase({ env }: Program): Promise<void> {
  const client = new MongoClient(env?.['MONGODB_URI'] ?? '')
  await client.db().dropDatabase()
  await client.close()
}
