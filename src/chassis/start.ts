// A service in this process, for its tests.
import { once } from 'node:events'
import { readConfig } from './config/config.ts'
import type { Variables } from './config/validators.ts'
import type { Service } from './service.ts'

/** A service that runs. */
export interface Running {
  /** What its paths follow, with BASE_PATH: `http://127.0.0.1:49152/api`. */
  url: string
  /** Where `/livez`, `/readyz` and `/metrics` are. */
  opsUrl: string
  /** Stops it as SIGTERM does. Resolves when nothing is open any more. */
  stop: () => Promise<void>
}

/** Warnings and errors are shown, and not each request. */
const DEFAULTS = { PORT: '0', OPS_PORT: '0', LOG_LEVEL: 'warn' }

/**
 * Starts a service in this process, for tests: also several at a time.
 *
 * @param variables its configuration: the environment and `.env` are not read. By default, the ports are free ones
 * @throws Error it cannot start, as `serve` would say. Nothing is left open
 */
export async function start<Operations, Own extends Variables, Caller>(
  service: Service<Operations, Own, Caller>,
  variables: NodeJS.ProcessEnv,
): Promise<Running> {
  const config = readConfig(variables, service.variables, DEFAULTS)
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT || config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
    throw new Error(NO_TRACES)
  const stopping = new AbortController()
  const stop = once(stopping.signal, 'abort').then(() => 'stop')
  const output = { write: (line: string) => process.stdout.write(line) } // no listener for each service
  const { run } = await import('./run.ts') // only now, as `serve` does
  return new Promise((resolve, reject) => {
    const end = () => {
      stopping.abort()
      return ended
    }
    const onListening = (url: string, opsUrl: string) => resolve({ url, opsUrl, stop: end })
    const ended = run(service, config, stop, { output, onListening })
    ended.catch(reject)
  })
}

/** OpenTelemetry reads `process.env`, once in a process. */
const NO_TRACES =
  '`start` has no traces: leave out their endpoint, and test them with `serve` in a process'
