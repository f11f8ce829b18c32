// The process: reads the arguments and the environment, starts tracing if it is configured, runs the service.
import { parseArgs } from 'node:util'
import { loadConfig, VARIABLES } from './config.ts'
import { readTracing } from './telemetry/tracing-variables.ts'

const USAGE = `usage: npm start, or: node dist/src/main.js [--help] [--version]
Runs the service. Variables in the environment or in .env configure it; README.md explains them:
${Object.keys(VARIABLES).join(', ')}`

const OPTIONS = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const

try {
  const { values } = parseArgs({ options: OPTIONS })
  if (values.help || values.version) {
    const { contract } = await import('./contract/contract.ts')
    console.log(values.help ? USAGE : contract.info.version)
    process.exit()
  }
  const config = loadConfig()
  const { endpoint, warnings } = readTracing(process.env)
  config.warnings.push(...warnings)
  const tracing = endpoint && (await import('./telemetry/tracing.ts')).startTracing(endpoint)
  const { run } = await import('./service.ts') // only now: tracing instruments modules while they load
  await run(config, tracing)
  process.exit()
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}
