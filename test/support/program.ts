// The built programs, as processes.
import { afterAll, afterEach } from '@jest/globals'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { variables } from '../../src/config.ts'
import { VARIABLES } from '../chassis/support/internals.ts'
import { sqlitePlace, type Place } from './stores.ts'

/** The built programs. Nobody keeps a `.env` in this folder. */
export const dist = fileURLToPath(new URL('../../dist/', import.meta.url))

/** The names of the variables. */
export const NAMES = Object.keys({ ...VARIABLES, ...variables })

/** Each variable, not set, for programs in a folder where a developer may keep a `.env`. */
export const UNSET: Record<string, string> = Object.fromEntries(
  NAMES.flatMap((name) => [name, `${name}_FILE`]).map((name) => [name, '']),
)

const running = new Set<Program>()
/** Ends every program that still runs. */
export async function killPrograms(): Promise<void> {
  for (const program of running) await program.stop('SIGKILL')
  running.clear()
}

/** A place for the programs that run during all tests of a file. */
export function usePlace(): Place {
  const place = sqlitePlace()
  afterAll(async () => {
    await killPrograms()
    await place.remove()
  })
  return place
}

/** What to do after each test, the last first, when its programs have ended. */
export function useUndo(): (() => unknown)[] {
  const undo: (() => unknown)[] = []
  afterEach(async () => {
    await killPrograms()
    while (undo.length > 0) await undo.pop()!()
  })
  return undo
}

/** Starts a program of dist/, such as `src/main`, on the store at `place`, in the folder `cwd`. */
export function run(
  script: string,
  place: Place,
  env: Record<string, string> = {},
  args: string[] = [],
  cwd = dist,
) {
  const { PATH = '' } = process.env
  const environment = { PATH, PORT: '0', OPS_PORT: '0', ...place.environment, ...env }
  const options = { cwd, env: environment }
  const child = spawn(process.execPath, [`${dist}${script}.js`, ...args], options)
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (text: Buffer) => (output.stdout += text))
  child.stderr.on('data', (text: Buffer) => (output.stderr += text))
  const ended = once(child, 'close').then(([code, signal]): number | string => code ?? signal)
  const on = (pattern: RegExp) => pattern.exec(output.stdout)![1]!
  const url = () => on(/listening on (http:[^"\s]+)/)
  const ops = () => on(/ are on (http:[^"\s]+)/)
  const program = {
    process: child as ChildProcess,
    output,
    /** Resolves to the exit code, or the signal that ended it. */
    ended,
    /** Sends it a signal. Resolves as `ended` does. */
    stop: (signal: NodeJS.Signals = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
    /** Resolves to the address when it listens. */
    async listening() {
      while (!output.stdout.includes(' are on http')) {
        if (child.exitCode !== null) throw new Error(`it ended: ${output.stderr}`)
        await sleep(10)
      }
      return url()
    },
    /** Once it listens: its address, and that of /livez, /readyz and /metrics. */
    url,
    ops,
    /** Asks the port for operators, over a new connection: a reused one may be closed at this moment. */
    async probe(path: string, method = 'GET') {
      const init = { method, headers: { connection: 'close' } }
      const response = await fetch(ops() + path, init)
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
  }
  running.add(program)
  return program
}

export type Program = ReturnType<typeof run>

/** Starts the service, on a port that is free. */
export const serve = (place: Place, env?: Record<string, string>, cwd?: string) =>
  run('src/main', place, env, [], cwd)

/** Starts the service, and waits until it listens. */
export async function started(place: Place, env?: Record<string, string>): Promise<Program> {
  const service = serve(place, env)
  await service.listening()
  return service
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

/**
 * Runs any program to its end, for two minutes at most: Node itself may hang as it exits
 * (nodejs/node#54918).
 * @returns what it printed
 */
export const runToEnd = (program: string, args: string[], options: object = {}): string =>
  execFileSync(program, args, {
    encoding: 'utf8',
    stdio: 'pipe',
    timeout: 120_000,
    killSignal: 'SIGKILL',
    ...options,
  })

const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8')
const settings = dockerfile.matchAll(/\b(NODE_OPTIONS|MALLOC_\w+)=("?)(.+?)\2(?=\s)/g)
/** The settings of the image for Node and malloc. */
export const IMAGE = Object.fromEntries([...settings].map(([, name, , value]) => [name!, value!]))
