// The process: the environment, tracing if it asks for it, the service.
import { readConfig } from './config.ts'

try {
  const config = readConfig(process.env)
  const stopTracing = config.tracing && (await import('./telemetry/tracing.ts')).startTracing()
  const { run } = await import('./service.ts') // behind tracing, which has to be there before Koa is
  await run(config)
  if (stopTracing) await stopTracing()
  process.exit()
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}
