// The process: reads the environment, starts tracing if it is configured, runs the service.
import { loadConfig } from './config/config.ts'
import type { Variables } from './config/validators.ts'
import type { Service } from './service.ts'
import { pathRedactor } from './telemetry/path-redactor.ts'

const NO_ARGUMENTS =
  'the service takes no arguments: variables in the environment or in .env configure it (README.md)'

/** Runs a service until SIGTERM or SIGINT, and ends the process: with exit code 1 and one line if it cannot start. */
export async function serve<Operations, Own extends Variables, Caller>(
  service: Service<Operations, Own, Caller>,
): Promise<never> {
  // Further signals change nothing: npm, systemd and tini send them twice. Listens from the start, because without a
  // listener, process 1 of a container ignores signals.
  const stop = new Promise<NodeJS.Signals>((resolve) => {
    process.on('SIGTERM', resolve).on('SIGINT', resolve)
  })
  try {
    const [argument] = process.argv.slice(2)
    if (argument) throw new Error(`${argument}: ${NO_ARGUMENTS}`)
    const config = loadConfig(service.variables)
    const redactPath = pathRedactor(service.redactPath)
    const { name } = service.contract.contents()
    const tracing = config.OTEL_EXPORTER_OTLP_ENDPOINT
      ? (await import('./telemetry/tracing.ts')).startTracing(name, redactPath)
      : undefined
    const { run } = await import('./run.ts') // only now: tracing instruments modules while they load
    await run(service, config, redactPath, stop, tracing)
    process.exit()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(1)
  }
}
