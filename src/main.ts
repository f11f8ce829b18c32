// The process: reads the arguments and the environment, starts tracing if it is configured, runs the service.
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { FILE_VARIABLES, loadConfig, VARIABLES } from './config.ts'

const USAGE = `usage: npm start, or: node dist/src/main.js [--help] [--version]
Runs the service. Variables in the environment or in .env configure it; README.md explains them:
${Object.keys(VARIABLES).join(', ')}`

const OPTIONS = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const

try {
  const { values } = parseArgs({ options: OPTIONS })
  if (values.help || values.version) {
    const { contract } = await import('./contract/document.ts')
    console.log(values.help ? USAGE : contract.info.version)
    process.exit()
  }
  const environment = { ...process.env } // without .env
  const config = loadConfig()
  const stopTracing = config.tracing && (await import('./telemetry/tracing.ts')).startTracing()
  const { run } = await import('./service.ts') // only now: tracing instruments modules while they load
  await run(config, createUserCommand(environment))
  if (stopTracing) await stopTracing()
  process.exit()
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}

/**
 * The command that creates the first user, for another shell: it reads `.env` there, too, but must itself set what
 * comes from `environment`.
 */
function createUserCommand(environment: NodeJS.ProcessEnv): string {
  const options = '--name Ada --email ada@example.com'
  if (existsSync('/usr/local/bin/create-user')) return `create-user ${options}` // in the image, all shells have both
  const names = ['DATA_DIR', ...FILE_VARIABLES, ...FILE_VARIABLES.map((name) => `${name}_FILE`)]
  const settings = names.flatMap((name) => {
    const value = environment[name]
    if (value === undefined) return []
    return `${name}=${value && FILE_VARIABLES.includes(name) ? '…' : quote(value)} `
  })
  const isNpm = environment['npm_package_name'] === 'users-service'
  const file = relative('', join(process.argv[1]!, '../../scripts/create-user.js'))
  return `${settings.join('')}${isNpm ? 'npm run create-user --' : `node ${quote(file)}`} ${options}`
}

/** A text as a word of a shell. */
function quote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
