// The servers under test, as processes of their own.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Usage } from './usage.ts'

export const SECRET = 'a-secret-of-the-benchmark-with-32-bytes'

const PROGRAMS = { floor: 'floor.js', service: '../../src/main.js', fastify: 'fastify.js' }
export type Kind = keyof typeof PROGRAMS

/** Where a store keeps its users. */
export interface Place {
  mongodbUri: string | undefined
  dataDir: string
}

export interface Server {
  kind: Kind
  port: number
  /** Milliseconds from the start of the process to its first answer. */
  startup: number
  usage(): Promise<Usage>
  stop(): Promise<void>
}

/** Starts a server on the users at `place`; it logs to a file there, as it does by default. */
export async function start(kind: Kind, { mongodbUri, dataDir }: Place): Promise<Server> {
  const port = await freePort()
  const begun = performance.now()
  const child = fork(new URL(PROGRAMS[kind], import.meta.url), {
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      OPS_PORT: '0',
      SIGNING_SECRET: SECRET,
      DATA_DIR: dataDir,
      ...(mongodbUri !== undefined && { MONGODB_URI: mongodbUri }),
    },
    execArgv: ['--import', new URL('usage.js', import.meta.url).href],
    stdio: ['ignore', openSync(join(dataDir, `${kind}.log`), 'w'), 'inherit', 'ipc'],
  })
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill) // whatever ends the benchmark
  child.once('exit', () => process.off('exit', kill))
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`${kind} ended with ${child.exitCode}`)
  }
  const startup = performance.now() - begun
  return { kind, port, startup, usage: () => usageOf(child), stop: () => stop(child) }
}

async function usageOf(child: ChildProcess): Promise<Usage> {
  child.send('usage')
  const [usage] = (await once(child, 'message')) as [Usage]
  return usage
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function answers(port: number): Promise<boolean> {
  const request = http.get({ port, host: '127.0.0.1', path: '/', agent: false })
  const answered = await once(request, 'response').then(
    () => true,
    () => false,
  )
  request.destroy()
  return answered
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
