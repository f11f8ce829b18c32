// Starts the servers, each as a process of its own.
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Program {
  /** In the table. */
  name: string
  file: string
  env: Record<'DATA_DIR' | 'MONGODB_URI' | 'SIGNING_SECRET', string>
}

/** What reports the CPU time of a server. */
const USAGE = new URL('usage.js', import.meta.url).href

/** Below 32768: from there on, the kernel gives ports to clients, and one that was free could be taken. */
let lastPort = 20_000

/** Starts a program, and waits until it responds. Its log goes to a file. */
export async function start({ name, file, env }: Program) {
  const port = (lastPort += 1)
  const log = openSync(join(env.DATA_DIR, 'log'), 'a')
  const child = fork(file, {
    env: { ...env, PORT: String(port), OPS_PORT: '0' },
    execArgv: ['--import', USAGE],
    stdio: ['ignore', log, 'inherit', 'ipc'],
  })
  closeSync(log)
  while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
    await sleep(1)
  }
  return {
    port,
    cpuTime: () => cpuTimeOf(child),
    stop: async (): Promise<void> => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** In microseconds. */
async function cpuTimeOf(child: ChildProcess): Promise<number> {
  child.send('usage')
  return ((await once(child, 'message')) as [number])[0]
}
