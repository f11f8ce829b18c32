// The process: reads the environment, starts tracing if it is configured, runs the service.
import { loadConfig, type Variables } from './config.ts'
import type { Service } from './service.ts'
import { pathRedactor } from './redact-path.ts'

const NO_ARGUMENTS =
  'the service takes no arguments: variables in the environment or in .env configure it (README.md)'
const NO_TRACES =
  'no traces are sent: OTEL_EXPORTER_OTLP_ENDPOINT (or …_TRACES_ENDPOINT) is not an HTTP URL, or OTEL_TRACES_EXPORTER is not otlp'

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
    const endpoint = tracesEndpoint(process.env)
    if (endpoint === undefined) config.warnings.push(NO_TRACES)
    const redactPath = pathRedactor(service.redactPath)
    const { name } = service.contract.contents()
    const tracing = endpoint
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

/** Where traces go: empty if nowhere, undefined if a variable is wrong. OpenTelemetry reads these and others itself. */
export function tracesEndpoint(env: NodeJS.ProcessEnv): string | undefined {
  const exporters = (env['OTEL_TRACES_EXPORTER'] || 'otlp').toLowerCase().split(/\s*,\s*/)
  const isDisabled = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true'
  if (isDisabled || exporters.join() === 'none') return ''
  if (!exporters.includes('otlp')) return undefined
  const url = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT'] || ''
  return !url || (/^https?:\/\/[^/]/i.test(url) && URL.canParse(url)) ? url : undefined
}
