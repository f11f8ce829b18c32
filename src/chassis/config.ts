// Reads the configuration from environment variables and `.env`. One error names all wrong values; a file that cannot be
// read and a wrong line of `.env` have an error of their own.
import { existsSync } from 'node:fs'
import bytes from 'bytes'
import { parse } from 'dotenv'
import { cleanEnv, makeValidator, type CleanedEnv, type ValidatorSpec } from 'envalid'
import { closestMatch } from 'leven'
import ms, { type StringValue } from 'ms'
import { readTextFile } from './files.ts'
import { SERVER_LIMITS } from './http/limits.ts'

/** Environment variables, by their names. */
export type Variables = Record<string, Variable>

/** A variable of envalid, with a `default`, or required without one. */
export type Variable = ValidatorSpec<unknown> & {
  /** Whether its value is not shown, and may also be in a file that its variable with `_FILE` names. */
  isSecret?: boolean
  /** What is wrong with it beside other variables that are set, as the end of a sentence. */
  conflict?: (vars: NodeJS.ProcessEnv) => string | undefined
}

/** The configuration: the variables of the chassis and of the service, by their names. */
export type Config<Own extends Variables> = CleanedEnv<typeof VARIABLES> &
  CleanedEnv<Own> & { warnings: string[] }

/** The message has a line for each variable that is wrong. */
export class InvalidConfig extends Error {}

/**
 * Adds the variables of `.env` in the current folder to the environment, which wins, trims the
 * values, and reads the configuration.
 *
 * @param own the variables of the service
 * @param warn is called with each warning of the configuration
 * @throws InvalidConfig
 */
export function loadConfig<Own extends Variables>(
  own: Own,
  warn?: (text: string) => void,
): Config<Own> {
  for (const [name, value = ''] of Object.entries({ ...readEnvFile(), ...process.env }))
    process.env[name] = value.trim()
  const config = readConfig(process.env, own)
  for (const warning of config.warnings) warn?.(warning)
  return config
}

/** Unlike `dotenv.config`, refuses a file that cannot be read, and lines that it would ignore or cut. */
function readEnvFile(): NodeJS.Dict<string> {
  if (!existsSync('.env')) return {}
  const lines = readFile('.env', '.env').split(/\r\n?|\n/)
  const wrong = lines.map((line) => line.trim()).findIndex((line) => !ENV_LINE.test(line))
  if (wrong === -1) return parse(lines.join('\n'), { fast: true }) // else empty lines take quadratic time
  throw new InvalidConfig(`${RULE}: see line ${wrong + 1}`)
}

const RULE =
  '.env must have one NAME=value on each line, in UTF-8; put a value with # or a quote in (other) quotes'

/** Empty, a comment, or a variable: its value is in quotes, or has neither quotes nor `#`; a comment may follow. */
const ENV_LINE = /^(#.*|(export\s+)?[\w.-]+\s*=(\s*"[^"]*"|\s*'[^']*'|[^"'`#]*)(\s#.*)?)?$/

/** @param name what names it in the error */
function readFile(file: string, name: string): string {
  try {
    return readTextFile(file)
  } catch (error) {
    throw new InvalidConfig(`${name} cannot be read: ${(error as Error).message}`)
  }
}

/** @throws InvalidConfig */
export function readConfig<Own extends Variables>(
  environment: NodeJS.ProcessEnv,
  own: Own,
): Config<Own> {
  const variables: Variables = { ...VARIABLES, ...own }
  const vars = readFiles(environment, variables)
  vars['OPS_HOST'] ??= vars['HOST']
  const env = cleanEnv(vars, variables, {
    reporter({ errors }) {
      const problems = Object.entries(errors).map(([name, error]) => {
        if (vars[name] === undefined) return `${name} must be set`
        const isSecret = variables[name]?.isSecret || vars[name].includes('@') // credentials in a URL
        return `${name} ${error?.message}${isSecret ? '' : `, not "${vars[name]}"`}`
      })
      for (const [name, { conflict }] of Object.entries(variables)) {
        const problem = conflict?.(vars)
        if (problem) problems.push(`${name} ${problem}`)
      }
      if (problems.length > 0) throw new InvalidConfig(problems.join('\n'))
    },
  }) as Config<Own>
  const names = namesOf(variables)
  const warnings = Object.keys(environment).flatMap((name) => misspellingIn(name, names))
  return { ...env, warnings }
}

/**
 * Other programs have variables, too, so a name counts as misspelled only if its first letter is right and at most one
 * letter is wrong or missing, or two in a long name. A name in small letters counts, too.
 */
function misspellingIn(name: string, names: string[]): string | [] {
  const upper = name.toUpperCase()
  const meant = closestMatch(upper, names, { maxDistance: name.length < 9 ? 1 : 2 })
  if (!meant || meant === name || meant[0] !== upper[0]) return []
  return `${name} is not a variable of the service: is it meant to be ${meant}?`
}

/** The variables that are set, and the text of the files in `_FILE` variables, trimmed. */
function readFiles(environment: NodeJS.ProcessEnv, variables: Variables): NodeJS.ProcessEnv {
  const vars = Object.fromEntries(Object.entries(environment).filter(([, value]) => value))
  for (const name of secretsIn(variables)) {
    const file = vars[`${name}_FILE`]
    if (file && vars[name]) throw new InvalidConfig(`${name}_FILE must not be set with ${name}`)
    if (file) vars[name] = readFile(file, `${name}_FILE`).trim()
  }
  return vars
}

const secretsIn = (variables: Variables) =>
  Object.keys(variables).filter((name) => variables[name]!.isSecret)

/** The names of variables, with those of files. */
export const namesOf = (variables: Variables): string[] => [
  ...Object.keys(variables),
  ...secretsIn(variables).map((name) => `${name}_FILE`),
]

/** What only a shell or a template would replace, and quotes, which `docker run --env-file` keeps. */
const PLACEHOLDER =
  /^(\$\{.*\}|\$\(.*\)|\{\{.*\}\}|<[\w.:'-]+>|<[^<>]*[\s…][^<>]*>|\$[A-Z_][A-Z\d_]{2,}|(["'`]).*\2)$/s

/** Whether a value, or an item of it, is a placeholder. A random secret may have the same characters inside. */
export const isPlaceholder = (text: string): boolean => PLACEHOLDER.test(text)

export const NOT_REPLACED =
  'be the value itself: nothing replaces ${…}, $(…), {{ … }}, <…> or ~ here, or removes quotes; for a secret, use openssl rand -hex 32'

/**
 * A variable that `parse` reads; it returns undefined for a wrong value.
 *
 * @param rule what it must do or be
 * @param itemsOf what of the value can be a placeholder: the whole value, unless it has items
 */
const variable = <T>(
  rule: string,
  parse: (text: string) => T | undefined,
  itemsOf = (text: string) => [text],
) =>
  makeValidator((text): T => {
    if (itemsOf(text).some(isPlaceholder)) throw new Error(`must ${NOT_REPLACED}`)
    const value = parse(text)
    if (value !== undefined) return value
    throw new Error(`must ${rule}`)
  })

/** A number that `parse` reads; NaN is out of range. @param range names `min` and `max` */
const number = (range: string, min: number, max: number, parse: (text: string) => number) =>
  variable(`be ${range}`, (text) => {
    const value = parse(text)
    return value >= min && value <= max ? value : undefined
  })

const parseInteger = (text: string) => (/^\d+$/.test(text) ? Number(text) : NaN)

/** A whole number. */
export const integer = (min: number, max: number) =>
  number(`between ${min} and ${max}`, min, max, parseInteger)
const port = integer(0, 65_535)

/** A duration such as `90s`, `15m` or `1d`; a number without a unit means seconds. @param unit of the value, in milliseconds */
export const duration = (min: string, max: string, unit = 1) => {
  const parse = (text: string) =>
    Math.floor(ms((/^\d+$/.test(text) ? `${text}s` : text) as StringValue) / unit)
  return number(`a duration between ${min} and ${max}`, parse(min), parse(max), parse)
}

/** A size such as `512kb` or `1mb`; a number without a unit means bytes. */
const size = number('a size between 1b and 1mb', 1, 1_048_576, (text) =>
  /^\d+(\.\d+)?([km]?b)?$/i.test(text) ? bytes.parse(text)! : NaN,
)

/** A text, perhaps of a certain form. @param rule what it must do or be, such as `be one word` */
export const text = (rule = '', isValid: (text: string) => boolean = () => true) =>
  variable(rule, (text) => (isValid(text) ? text : undefined), partsOf)

/** The parts of a URI, such as its credentials; of any other text, the text. */
const partsOf = (text: string) => (/^[\w+.-]+:\/\//.test(text) ? text.split(/[/:@?]/) : [text])

/** A list of texts of a certain form; in a file, lines separate them, too. @param rule what they must be */
export const list = (rule: string, isValid: (text: string) => boolean) =>
  variable(
    `be ${rule}, separated by commas`,
    (text) => (itemsOf(text).every(isValid) ? itemsOf(text) : undefined),
    itemsOf,
  )

const itemsOf = (text: string) => text.split(/\s*[,\n]\s*/)

/** The variable, as a secret: its value is not shown, and may also be in a file. */
export const secret = <V extends Variable>(variable: V) => ({ ...variable, isSecret: true })

const HOST = /^([\w.-]+|\[[\da-f:.]+\])$/i
const hosts = list('host names without ports', (name) => HOST.test(name))

/** Segments of characters that are not encoded, and no `.` or `..`: proxies change these. */
const BASE_PATH = /^(\/|(\/(?!\.{1,2}(\/|$))[\w.~-]+)+)$/
const BASE_PATH_RULE =
  'be a path such as /api, of letters, digits and -._~, with no slash at its end'
const basePath = variable(BASE_PATH_RULE, (path) =>
  BASE_PATH.test(path) ? path.replace(/^\/$/, '') : undefined,
)

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const level = text(`be one of ${LEVELS.join(', ')}`, (name) => LEVELS.includes(name))

const flag = variable('be true or false', (value) =>
  ['true', 'false'].includes(value) ? value === 'true' : undefined,
)

const LOOPBACK = '127.0.0.1'

/** The variables of every service, with their defaults. Times are in milliseconds, sizes in bytes. */
export const VARIABLES = {
  HOST: text()({ default: LOOPBACK }),
  PORT: port({ default: 3000 }),
  OPS_HOST: text()({ default: LOOPBACK }), // by default, the value of HOST
  OPS_PORT: port({ default: 9090 }),
  ALLOWED_HOSTS: hosts({ default: [] }),
  BASE_PATH: basePath({ default: '' }),
  BODY_LIMIT: size({ default: 102_400 }),
  MAX_CONNECTIONS: integer(1, 100_000)({ default: SERVER_LIMITS.maxConnections }),
  STOP_DELAY: duration('0s', '1h')({ default: 0 }), // after a signal, while not ready
  STOP_TIMEOUT: duration('0s', '1h')({ default: ms('8s') }), // after that; less than the 10 s of `docker stop`
  DOCS: flag({ default: true }),
  LOG_LEVEL: level({ default: 'info' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: text()({ default: undefined }), // serve.ts and its library read it
}
