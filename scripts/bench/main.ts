// npm run bench: the service beside its peers, in short turns, on both stores.
import { MongoClient } from 'mongodb'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { connectAll, load, type Exchange } from './load.ts'
import { fill, SCENARIOS, SECRET } from './scenarios.ts'
import { start, type Program, type Server } from './server.ts'
import { inTurns, showHead, showRow, TURNS } from './table.ts'

const HELP = `npm run bench -- [--seconds 0.5] [--only TEXT] [--against FOLDER]
  --seconds  how long each turn takes
  --only     measure only the rows that have TEXT in their title, such as "MongoDB" or "log-in"
  --against  compare with the service that is built in another checkout, not with the peers
MongoDB is measured if MONGODB_URI is set. Both stores take about 12 minutes.`

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '0.5' },
    only: { type: 'string', default: '' },
    against: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const seconds = Number(values.seconds)
if (values.help || !(seconds > 0)) {
  console.log(HELP)
  process.exit(values.help ? 0 : 2)
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const service = (checkout: string) => resolve(root, checkout, 'dist/src/main.js')
const fastify = fileURLToPath(new URL('fastify.js', import.meta.url))
const PEERS = [
  { name: 'Fastify', file: fastify },
  { name: 'observed', file: fastify, env: { OBSERVED: '1' } },
]
const other = values.against && { name: 'other', file: service(values.against) }
const programs: Program[] = [{ name: 'service', file: service('.') }, ...(other ? [other] : PEERS)]

const folder = mkdtempSync(join(os.tmpdir(), 'users-service-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true }))

console.log(`Node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model ?? 'CPU'}
Medians of ${TURNS} turns of ${seconds} s: µs of CPU time per request, unless the row says ms or MB.
÷ is the median of the ratios within a turn: below 1, the service takes less.\n`)
showHead(programs.map(({ name }) => name))
await measureStore('embedded')
const uri = process.env['MONGODB_URI']
if (uri) await measureStore('MongoDB', uri)
else console.log('MongoDB was not measured: MONGODB_URI is not set.')
process.exit()

async function measureStore(store: string, uri?: string): Promise<void> {
  const isWanted = ({ title }: { title: string }) => title.includes(values.only)
  const scenarios = SCENARIOS.flatMap(({ name, next, connections }) =>
    connections.map((count) => ({ title: `${store}: ${name}, ${count} at once`, next, count })),
  ).filter(isWanted)
  const starts = [{ title: `${store}: start to first response, ms` }].filter(isWanted)
  if (scenarios.length + starts.length === 0) return

  const placed = programs.map((program) => place(program, uri))
  const servers = await Promise.all(placed.map(start))
  const worlds = new Map<Server, Awaited<ReturnType<typeof fill>>>()
  for (const server of servers) worlds.set(server, await fill(server.port))
  for (const { title, next, count } of scenarios) {
    const measure = (server: Server) =>
      cpuPerRequest(server, count, () => next(worlds.get(server)!))
    showRow(title, await inTurns(servers, measure))
  }
  for (const server of servers) await server.stop()

  for (const { title } of starts) {
    const measured = await inTurns(placed, startAndIdle)
    showRow(
      title,
      measured.map((turns) => turns.map(({ ms }) => ms)),
    )
    showRow(
      `${store}: idle memory, MB`,
      measured.map((turns) => turns.map(({ MB }) => MB)),
    )
  }
  for (const { env } of placed) if (env?.['MONGODB_URI']) await drop(env['MONGODB_URI'])
}

/** Gives the program a folder, or a database, of its own. */
function place({ env, ...program }: Program, uri?: string): Program {
  const own: Program['env'] = {
    ...env,
    SIGNING_SECRET: SECRET,
    DATA_DIR: mkdtempSync(join(folder, 'data-')),
  }
  if (uri !== undefined) {
    const database = new URL(uri)
    database.pathname = `bench-${randomUUID()}`
    own['MONGODB_URI'] = database.href
  }
  return { ...program, env: own }
}

async function cpuPerRequest(server: Server, count: number, next: () => Exchange): Promise<number> {
  const connections = await connectAll(server.port, count)
  await load(connections, 0, next) // one request each: from here on they cost nothing but requests
  const before = await server.usage()
  const requests = await load(connections, seconds, next)
  const after = await server.usage()
  for (const { close } of connections) close()
  return (after.cpu - before.cpu) / requests
}

async function startAndIdle(program: Program): Promise<{ ms: number; MB: number }> {
  const server = await start(program)
  await sleep(500)
  const { memory } = await server.usage()
  await server.stop()
  return { ms: server.startup, MB: memory / 1_000_000 }
}

async function drop(uri: string): Promise<void> {
  const client = new MongoClient(uri)
  await client.db().dropDatabase()
  await client.close()
}
