// Reads the configuration from environment variables and `.env`. One error names all wrong values; a file that cannot be
// read and a wrong line of `.env` have an error of their own.
import { cleanEnv, type CleanedEnv } from 'envalid'
import { readTextFile } from '../files.ts'
import { readEnvFile } from './env-file.ts'
import type { Variable, Variables } from './validators.ts'
import { VARIABLES } from './variables.ts'

/** The configuration: the variables of the chassis and of the service, by their names. */
export type Config<Own extends Variables> = CleanedEnv<typeof VARIABLES> & CleanedEnv<Own>

/**
 * Adds the variables of `.env` in the current folder to the environment, which wins, trims the
 * values, and reads the configuration. Names in `.env` that are no variables of the service are told on
 * standard error.
 *
 * @param variables those of the service
 * @throws Error with a line for each variable that is wrong
 */
export function loadConfig<Own extends Variables>(variables: Own): Config<Own> {
  const file = readEnvFile()
  const unknown = Object.keys(file).filter((name) => !isVariable(name, variables))
  if (unknown.length > 0) console.error(`${UNKNOWN}: ${unknown.map(shown).join(', ')}`)
  for (const [name, { isSecret }] of Object.entries<Variable>(variables))
    if (isSecret && name in process.env) delete file[`${name}_FILE`] // the environment wins, also if it is empty
  for (const [name, value = ''] of Object.entries({ ...file, ...process.env }))
    process.env[name] = value.trim()
  return readConfig(process.env, variables)
}

/** Whether the service has a variable, or OpenTelemetry, whose SDK reads its own. */
const isVariable = (name: string, ofService: Variables): boolean =>
  Object.hasOwn(VARIABLES, name) ||
  Object.hasOwn(ofService, name) ||
  ofService[name.replace(/_FILE$/, '')]?.isSecret === true ||
  name.startsWith('OTEL_')

const UNKNOWN = '.env has names that are no variables of the service'

/** A name, but not the second line of a secret in base64. */
const shown = (name: string) => (/^([A-Z\d_]+|[a-z\d_]+)$/.test(name) ? name : '…')

/** @param defaults for variables that are not set, or empty @throws Error as `loadConfig` does */
export function readConfig<Own extends Variables>(
  environment: NodeJS.ProcessEnv,
  ofService: Own,
  defaults: NodeJS.ProcessEnv = {},
): Config<Own> {
  const taken = Object.keys(ofService).find((name) => name in VARIABLES)
  if (taken) throw new Error(`the service cannot have ${taken} as its own: the chassis has it`)
  const variables: Variables = { ...VARIABLES, ...ofService }
  const vars = { ...defaults, ...readFiles(environment, variables) }
  vars['OPS_HOST'] ??= vars['HOST']
  const env = cleanEnv(vars, variables, {
    reporter({ errors }) {
      const problems = Object.entries(errors).map(([name, error]) => {
        if (vars[name] === undefined) return `${name} must be set`
        const isSecret = variables[name]?.isSecret || /[?@]/.test(vars[name]) // credentials in a URL
        return `${name} ${error?.message}${isSecret ? '' : `, not "${vars[name]}"`}`
      })
      for (const [name, { conflict }] of Object.entries(variables)) {
        const problem = conflict?.(vars, environment)
        if (problem) problems.push(`${name} ${problem}`)
      }
      for (const name of NO_OPTIONS)
        if (`npm_config_${name.toLowerCase()}` in environment) problems.push(`${name} ${TAKEN}`)
      if (problems.length > 0) throw new Error(problems.join('\n'))
    },
  }) as Config<Own>
  return { ...env } // envalid's own object throws when an unknown property is read
}

/** Variables whose names no option of npm has. */
const NO_OPTIONS = [...Object.keys(VARIABLES), 'DATA_DIR']
const TAKEN = 'is a variable, and no option: npm takes the option for itself'

/** The variables that are set, and the text of the files in `_FILE` variables, trimmed. */
function readFiles(environment: NodeJS.ProcessEnv, variables: Variables): NodeJS.ProcessEnv {
  const vars = Object.fromEntries(Object.entries(environment).filter(([, value]) => value))
  for (const [name, { isSecret }] of Object.entries(variables)) {
    const file = isSecret && vars[`${name}_FILE`]
    if (file && vars[name]) throw new Error(`${name}_FILE must not be set with ${name}`)
    if (file) vars[name] = readTextFile(file, `${name}_FILE`).trim()
  }
  return vars
}
