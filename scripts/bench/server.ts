// The servers, as processes of their own.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Program {
  /** In the table. */
  name: string
  file: string
  env?: Record<string, string>
}

export interface Server {
  port: number
  /** Milliseconds from the start of the process to its first response. */
  startup: number
  usage(): Promise<Usage>
  stop(): Promise<void>
}

/** What a server has used: CPU time of all threads in microseconds, and memory in bytes. */
interface Usage {
  cpu: number
  memory: number
}

const USAGE = new URL('usage.js', import.meta.url).href

const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/** Starts a program. Its log is a file, next to its data. */
export async function start({ name, file, env }: Program): Promise<Server> {
  const port = await freePort()
  const begun = performance.now()
  const child = fork(file, {
    env: { ...env, PATH: process.env['PATH'], PORT: String(port), OPS_PORT: '0' },
    execArgv: ['--import', USAGE],
    stdio: ['ignore', openSync(join(env?.['DATA_DIR'] ?? '.', 'log'), 'a'), 'inherit', 'ipc'],
  })
  running.add(child)
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
    await sleep(1)
  }
  return {
    port,
    startup: performance.now() - begun,
    async usage() {
      child.send('usage')
      const [usage] = (await once(child, 'message')) as [Usage]
      return usage
    },
    async stop() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      running.delete(child)
    },
  }
}

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/`).then(
    () => true,
    () => false,
  )

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
