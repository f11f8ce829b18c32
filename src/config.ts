// Reads the configuration from environment variables and `.env`. All wrong values are reported together, except values
// in quotes, a wrong `_FILE` variable or a wrong `.env`, which are reported alone.
import { existsSync } from 'node:fs'
import bytes from 'bytes'
import { parse } from 'dotenv'
import { cleanEnv, makeValidator, str } from 'envalid'
import { closestMatch } from 'leven'
import ms, { type StringValue } from 'ms'
import { readTextFile } from './files.ts'
import { SERVER_LIMITS } from './http/limits.ts'
import { isLongEnough, MIN_SECRET_BYTES } from './auth/tokens.ts'

/** The configuration, by the names of the variables. README.md has a table of it. */
export type Config = ReturnType<typeof readConfig>

/** The message has a line for each variable that is wrong. */
export class InvalidConfig extends Error {}

/**
 * Adds the variables of `.env` in the current folder to the environment, which wins, trims the
 * values, and reads the configuration.
 *
 * @param warn is called with each warning of the configuration
 * @throws InvalidConfig
 */
export function loadConfig(needsSecret = true, warn?: (text: string) => void): Config {
  const quoted = NAMES.filter((name) => QUOTED.test(process.env[name]?.trim() ?? ''))
  if (quoted.length > 0) throw new InvalidConfig(quoted.map((name) => name + IN_QUOTES).join('\n'))
  for (const [name, value = ''] of Object.entries({ ...readEnvFile(), ...process.env }))
    process.env[name] = value.trim()
  const config = readConfig(process.env, needsSecret)
  for (const warning of config.warnings) warn?.(warning)
  return config
}

const QUOTED = /^(["'`]).*\1$/s
const IN_QUOTES = ' is in quotes, which docker run --env-file keeps: remove them'

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

/**
 * @param needsSecret whether a secret must be set with MongoDB: only programs that sign no tokens need none
 * @throws InvalidConfig
 */
export function readConfig(environment: NodeJS.ProcessEnv, needsSecret = true) {
  const vars = readFiles(environment)
  const env = cleanEnv(vars, VARIABLES, {
    reporter({ errors }) {
      const problems = Object.entries(errors).map(([name, error]) => {
        const isSecret = FILE_VARIABLES.includes(name) || vars[name]?.includes('@') // user:password@host
        return `${name} ${error.message}${isSecret ? '' : `, not "${vars[name]}"`}`
      })
      const secrets = ['SIGNING_SECRET', 'SIGNING_SECRETS'].filter((name) => vars[name])
      if (needsSecret && vars['MONGODB_URI'] && secrets.length === 0) problems.push(SECRET_MISSING)
      if (secrets.length > 1) problems.push(SECRET_TWICE)
      if (problems.length > 0) throw new InvalidConfig(problems.join('\n'))
    },
  })
  return {
    ...env,
    BASE_PATH: env.BASE_PATH.replace(/^\/$/, ''),
    DOCS: env.DOCS === 'true',
    /** In seconds. */
    TOKEN_TTL: Math.floor(env.TOKEN_TTL / 1000),
    OPS_HOST: env.OPS_HOST ?? env.HOST,
    /** Also has SIGNING_SECRET. The first one signs, all verify; if there are none, a file in DATA_DIR has them. */
    SIGNING_SECRETS: env.SIGNING_SECRETS ?? (env.SIGNING_SECRET ? [env.SIGNING_SECRET] : []),
    /** A sentence for each variable that looks misspelled. */
    warnings: Object.keys(environment).flatMap(misspellingIn),
  }
}

/**
 * Other programs have variables, too, so a name counts as misspelled only if its first letter is right and at most one
 * letter is wrong or missing, or two in a long name. A name in small letters counts, too.
 */
function misspellingIn(name: string): string | [] {
  const upper = name.toUpperCase()
  const meant = closestMatch(upper, NAMES, { maxDistance: name.length < 9 ? 1 : 2 })
  if (!meant || meant === name || meant[0] !== upper[0]) return []
  return `${name} is not a variable of the service: is it meant to be ${meant}?`
}

/** Variables that may also be given as a file, for secrets that are mounted: `SIGNING_SECRET_FILE`. */
const FILE_VARIABLES = ['SIGNING_SECRET', 'SIGNING_SECRETS', 'MONGODB_URI']

/** The variables that are set, and the text of the files in `_FILE` variables, trimmed. */
function readFiles(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const vars = Object.fromEntries(Object.entries(environment).filter(([, value]) => value))
  for (const name of FILE_VARIABLES) {
    const file = vars[`${name}_FILE`]
    if (file && vars[name]) throw new InvalidConfig(`${name}_FILE must not be set with ${name}`)
    if (file) vars[name] = readFile(file, `${name}_FILE`).trim()
  }
  return vars
}

/** A number that `parse` reads; NaN is out of range. @param range names `min` and `max`, as the end of a sentence */
const number = (range: string, min: number, max: number, parse: (text: string) => number) =>
  makeValidator((text) => {
    const value = parse(text)
    if (value >= min && value <= max) return value
    throw new Error(`must be ${range}`)
  })

const parseInteger = (text: string) => (/^\d+$/.test(text) ? Number(text) : NaN)
const integer = (min: number, max: number) =>
  number(`between ${min} and ${max}`, min, max, parseInteger)
const port = integer(0, 65_535)

/** A duration such as `90s`, `15m` or `1d`; a number without a unit means seconds. Returns milliseconds. */
const duration = (min: StringValue, max: StringValue) =>
  number(`a duration between ${min} and ${max}`, ms(min), ms(max), (text) =>
    ms((/^\d+$/.test(text) ? `${text}s` : text) as StringValue),
  )

/** A size such as `512kb` or `1mb`; a number without a unit means bytes. Returns bytes. */
const size = (max: string) =>
  number(`a size between 1b and ${max}`, 1, bytes.parse(max)!, (text) =>
    /^\d+(\.\d+)?([km]?b)?$/i.test(text) ? bytes.parse(text)! : NaN,
  )

/** A text of a certain form. @param rule what it must be, as the end of a sentence */
const text = (rule: string, isValid: (text: string) => boolean) =>
  makeValidator((value) => {
    if (isValid(value)) return value
    throw new Error(`must ${rule}`)
  })

/** A list of texts of a certain form. @param rule what they must be */
const list = (rule: string, isValid: (text: string) => boolean) =>
  makeValidator((value) => {
    const items = value.split(',').map((item) => item.trim())
    if (items.every(isValid)) return items
    throw new Error(`must be ${rule}, separated by commas`)
  })

const LONG_ENOUGH = `at least ${MIN_SECRET_BYTES} bytes`
const secret = text(`have ${LONG_ENOUGH} (RFC 7518 §3.2)`, isLongEnough)
const secrets = list(`secrets of ${LONG_ENOUGH}`, isLongEnough)

const HOST = /^([\w.-]+|\[[\da-f:.]+\])$/i
const hosts = list('host names without ports', (name) => HOST.test(name))

/** Segments of characters that are not encoded, and no `.` or `..`: proxies change these. */
const BASE_PATH = /^(\/|(\/(?!\.{1,2}(\/|$))[\w.~-]+)+)$/
const basePath = text(
  'be a path such as /api, of letters, digits and -._~, with no slash at its end',
  (path) => BASE_PATH.test(path),
)

/** Credentials, hosts, a database and options. A `@` or `/` in a password would make a part of the password a host. */
const MONGODB_URI = /^mongodb(\+srv)?:\/\/([^@/?#]*@)?[^@/?#]+(\/[^@/?#]*)?(\?(\w+=[^#]*)?)?$/
const MONGODB_URI_RULE =
  'start with mongodb:// or mongodb+srv://; percent-encode @ (%40), / (%2F), ? (%3F) and # (%23) in a password'
const mongodbUri = text(MONGODB_URI_RULE, (uri) => MONGODB_URI.test(uri))

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
const level = text(`be one of ${LEVELS.join(', ')}`, (name) => LEVELS.includes(name))

const flag = text('be true or false', (value) => value === 'true' || value === 'false')

const SECRET_MISSING =
  'SIGNING_SECRET must be set with MONGODB_URI; make one with: openssl rand -hex 32'

const SECRET_TWICE =
  'SIGNING_SECRETS must not be set with SIGNING_SECRET; put this secret first in the list'

/**
 * All environment variables except those ending in `_FILE`, with their defaults. Times are in milliseconds, sizes in
 * bytes.
 */
export const VARIABLES = {
  HOST: str({ default: '127.0.0.1' }),
  PORT: port({ default: 3000 }),
  OPS_HOST: str({ default: undefined }), // HOST by default
  OPS_PORT: port({ default: 9090 }),
  ALLOWED_HOSTS: hosts({ default: [] }),
  BASE_PATH: basePath({ default: '' }),
  MONGODB_URI: mongodbUri({ default: undefined }),
  DATA_DIR: str({ default: './data' }),
  SIGNING_SECRET: secret({ default: undefined }),
  SIGNING_SECRETS: secrets({ default: undefined }),
  TOKEN_TTL: duration('1s', '10y')({ default: ms('1d') }),
  BODY_LIMIT: size('1mb')({ default: bytes.parse('100kb')! }),
  MAX_CONNECTIONS: integer(1, 100_000)({ default: SERVER_LIMITS.maxConnections }),
  STOP_DELAY: duration('0s', '1h')({ default: 0 }), // after a signal, while not ready
  STOP_TIMEOUT: duration('0s', '1h')({ default: ms('8s') }), // after that; less than the 10 s of `docker stop`
  DOCS: flag({ default: 'true' }),
  LOG_LEVEL: level({ default: 'info' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: str({ default: undefined }), // main.ts and its library read it
}

const NAMES = [...Object.keys(VARIABLES), ...FILE_VARIABLES.map((name) => `${name}_FILE`)]
