// The process: reads the arguments and the environment, starts tracing if it is configured, runs the service.
import { parseArgs } from 'node:util'
import { loadConfig, VARIABLES } from './config.ts'
import { redactPath } from './redact-path.ts'

const USAGE = `usage: npm start, or: node dist/src/main.js [--help] [--version]
Runs the service. Variables in the environment or in .env configure it; README.md explains them:
${Object.keys(VARIABLES).join(', ')}`

/**
 * The first SIGTERM or SIGINT. Further ones change nothing: npm, systemd and tini send it twice. Listens from the start,
 * because without a listener, process 1 of a container ignores signals.
 */
const stop = new Promise<NodeJS.Signals>((resolve) => {
  process.on('SIGTERM', resolve).on('SIGINT', resolve)
})

const OPTIONS = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const

try {
  const { values } = parseArgs({ options: OPTIONS })
  if (values.help || values.version) {
    const { contract } = await import('./contract/contract.ts')
    console.log(values.help ? USAGE : contract.info.version)
    process.exit()
  }
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
