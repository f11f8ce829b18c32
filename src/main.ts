// The process: reads the environment, starts tracing if it is configured, runs the service.
import { parseArgs } from 'node:util'
import { loadConfig } from './config.ts'
import { redactPath } from './redact-path.ts'

/**
 * The first SIGTERM or SIGINT. Further ones change nothing: npm, systemd and tini send it twice. Listens from the start,
 * because without a listener, process 1 of a container ignores signals.
 */
const stop = new Promise<NodeJS.Signals>((resolve) => {
  process.on('SIGTERM', resolve).on('SIGINT', resolve)
})

try {
  parseArgs() // refuses all: variables configure the service
  const config = loadConfig()
  const tracing = sendsTraces(process.env)
    ? (await import('./telemetry/tracing.ts')).startTracing('users-service', redactPath)
    : undefined
  const { run } = await import('./service.ts') // only now: tracing instruments modules while they load
  await run(config, stop, tracing)
  process.exit()
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}

/** OpenTelemetry's libraries read the other variables, and where traces go. */
function sendsTraces(env: NodeJS.ProcessEnv): boolean {
  const isOn =
    (env['OTEL_TRACES_EXPORTER'] || 'otlp') === 'otlp' && env['OTEL_SDK_DISABLED'] !== 'true'
  return (
    isOn && Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'])
  )
}
