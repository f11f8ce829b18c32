// The process: reads the environment, runs the service.
import { executionAsyncResource } from 'node:async_hooks'
import { loadConfig } from './config/config.ts'
import type { Variables } from './config/validators.ts'
import type { Service } from './service.ts'
import type { Logger } from './telemetry/log.ts'

const NO_ARGUMENTS =
  'the service takes no arguments: variables in the environment or in .env configure it (README.md)'

/** Runs a service until SIGTERM or SIGINT, and ends the process: with exit code 1 and one line if it cannot start. */
export async function serve<Operations, Own extends Variables, Caller>(
  service: Service<Operations, Own, Caller>,
): Promise<never> {
  process.nextTick(() => ticks.push(executionAsyncResource()))
  // Further signals change nothing: npm, systemd and tini send them twice. Listens from the start, because without a
  // listener, process 1 of a container ignores signals.
  const stop = new Promise<NodeJS.Signals>((resolve) => {
    process.on('SIGTERM', resolve).on('SIGINT', resolve)
  })
  let log: Logger | undefined
  let isOpen = false
  // A mistake of a guard, a handler or a store in a promise that nobody awaits, or in a callback, is a line in the log:
  // Node would end the process, and with it all other requests. Before the service is open, it is a failure of the start.
  const onError = (error: unknown) => {
    log?.error({ err: error ?? String(error) }, UNCAUGHT)
    if (!isOpen) fail(error)
  }
  process.on('unhandledRejection', onError).on('uncaughtException', onError)
  try {
    const [argument] = process.argv.slice(2)
    if (argument) throw new Error(`${argument}: ${NO_ARGUMENTS}`)
    const config = loadConfig(service.variables)
    const { run } = await import('./run.ts') // only now: a signal is heard a quarter of a second earlier
    await run(service, config, stop, {
      onLog: (opened) => void (log = opened),
      onOpen: () => void (isOpen = true),
    })
    process.exit()
  } catch (error) {
    log?.error({ err: error ?? String(error) }, 'the service ends') // not `fatal`, which would wait for a full disk
    fail(error)
  }
}

/**
 * One of Node's ticks, kept: when a garbage collection finds none, V8 forgets their shape, and is slow to make each that
 * follows. A GET by id, which has eight, then takes 5 % more.
 */
const ticks: object[] = []

const UNCAUGHT = 'an error that nobody has caught: a promise without await, or a callback'

function fail(error: unknown): never {
  if (error instanceof Error && error.message) console.error(error.message)
  else console.error('the start failed without a message:', error)
  process.exit(1)
}
