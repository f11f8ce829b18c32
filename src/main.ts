// The process: reads the environment, starts tracing if it is configured, runs the service.
import { readConfig } from './config.ts'

try {
  const config = readConfig(process.env)
  const stopTracing = config.tracing && (await import('./telemetry/tracing.ts')).startTracing()
  const { run } = await import('./service.ts') // only now: tracing instruments modules while they load
  await run(config)
  if (stopTracing) await stopTracing()
  process.exit()
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}
