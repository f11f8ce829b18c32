// Reads the configuration from environment variables. All wrong values are reported together, except a
// wrong `_FILE` variable, which is reported alone.
import { readFileSync } from 'node:fs'
import bytes from 'bytes'
import { cleanEnv, makeValidator, str } from 'envalid'
import ms, { type StringValue } from 'ms'
import { isLongEnough, MIN_SECRET_BYTES } from './auth/tokens.ts'

/** Everything that can be configured. The table is in README.md. */
export interface Config {
  host: string
  port: number
  /** The host and the port of /livez, /readyz and /metrics. */
  opsHost: string
  opsPort: number
  /** Host names that the service answers to, besides those of loopback. */
  allowedHosts: string[]
  mongodbUri: string | undefined
  dataDir: string
  /** The first signs, all verify. If there are none, a file in `dataDir` has them. */
  signingSecrets: string[]
  /** In seconds. */
  tokenTtl: number
  /** In bytes. */
  bodyLimit: number
  /** How long to keep serving after a signal, while not ready, in milliseconds. */
  stopDelay: number
  /** How long requests in flight may take after that, in milliseconds. */
  stopTimeout: number
  /** Whether to serve the contract and its page. */
  docs: boolean
  logLevel: string
  /** Whether traces are sent. */
  tracing: boolean
}

/** The message has a line for each variable that is wrong. */
export class InvalidConfig extends Error {}

/**
 * @param signs whether tokens will be signed: with MongoDB the secret must then be set
 * @throws InvalidConfig
 */
export function readConfig(environment: NodeJS.ProcessEnv, signs = true): Config {
  const set = withFiles(environment)
  const env = cleanEnv(set, VARIABLES, {
    reporter({ errors }) {
      const wrong = Object.entries(errors).map(([name, error]) => {
        const value = MAY_BE_FILES.includes(name) ? '' : `, not "${set[name]}"` // never shows a secret
        return `${name} ${error.message}${value}`
      })
      const forms = ['SIGNING_SECRET', 'SIGNING_SECRETS'].filter((name) => set[name])
      if (signs && set['MONGODB_URI'] && forms.length === 0) wrong.push(SECRET_MISSING)
      if (forms.length > 1) wrong.push(SECRET_TWICE)
      if (wrong.length > 0) throw new InvalidConfig(wrong.join('\n'))
    },
  })
  return {
    host: env.HOST,
    port: env.PORT,
    opsHost: env.OPS_HOST ?? env.HOST,
    opsPort: env.OPS_PORT,
    allowedHosts: env.ALLOWED_HOSTS,
    mongodbUri: env.MONGODB_URI,
    dataDir: env.DATA_DIR,
    signingSecrets: env.SIGNING_SECRETS ?? (env.SIGNING_SECRET ? [env.SIGNING_SECRET] : []),
    tokenTtl: Math.floor(env.TOKEN_TTL / 1000),
    bodyLimit: env.BODY_LIMIT,
    stopDelay: env.STOP_DELAY,
    stopTimeout: env.STOP_TIMEOUT,
    docs: env.DOCS,
    logLevel: env.LOG_LEVEL,
    tracing: env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
  }
}

/** Variables that may also be given as a file, for secrets that are mounted: `SIGNING_SECRET_FILE`. */
const MAY_BE_FILES = ['SIGNING_SECRET', 'SIGNING_SECRETS', 'MONGODB_URI']

/** The variables that are set; an empty one counts as not set. Adds the text of the files in `_FILE` variables. */
function withFiles(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  for (const name of MAY_BE_FILES) {
    const file = set[`${name}_FILE`]
    if (file === undefined) continue
    if (set[name] !== undefined)
      throw new InvalidConfig(`${name}_FILE must not be set with ${name}`)
    try {
      set[name] = readFileSync(file, 'utf8').trim()
    } catch (error) {
      throw new InvalidConfig(`${name}_FILE cannot be read: ${(error as Error).message}`)
    }
  }
  return set
}

const port = makeValidator((text) => {
  const value = /^\d+$/.test(text) ? Number(text) : NaN
  return within(0, 65_535, value, 'between 0 and 65535')
})

/** A duration such as `90s`, `15m` or `1d`; a number without a unit means seconds. Returns milliseconds. */
const duration = (least: StringValue, most: StringValue) =>
  makeValidator((text) => {
    const value = /^\d+$/.test(text) ? Number(text) * 1000 : ms(text as StringValue)
    return within(ms(least), ms(most), value, `a duration between ${least} and ${most}`)
  })

/** A size such as `512kb` or `1mb`; a number without a unit means bytes. Returns bytes. */
const size = (most: string) =>
  makeValidator((text) => {
    const value = /^\d+(\.\d+)?([km]?b)?$/i.test(text) ? bytes.parse(text) : null
    return within(1, bytes.parse(most)!, value ?? NaN, `a size between 1b and ${most}`)
  })

const secret = makeValidator((text) => {
  if (isLongEnough(text)) return text
  throw new Error(`must have at least ${MIN_SECRET_BYTES} bytes (RFC 7518 §3.2)`)
})

const secrets = makeValidator((text) => {
  const list = text.split(',').map((one) => one.trim())
  if (list.every(isLongEnough)) return list
  throw new Error(`must be a list with commas, of at least ${MIN_SECRET_BYTES} bytes each`)
})

const hosts = makeValidator((text) => {
  const list = text.split(',').map((one) => one.trim())
  if (list.every((name) => /^([\w.-]+|\[[\da-f:.]+\])$/i.test(name))) return list
  throw new Error('must be a list of host names without ports, with commas')
})

const mongodbUri = makeValidator((text) => {
  if (/^mongodb(\+srv)?:\/\/./.test(text)) return text
  throw new Error('must start with mongodb:// or mongodb+srv://')
})

const flag = makeValidator((text) => {
  if (text === 'true' || text === 'false') return text === 'true'
  throw new Error('must be true or false')
})

const httpUrl = makeValidator((text) => {
  if (/^https?:/.test(text) && URL.canParse(text)) return text
  throw new Error('must be an http:// or https:// URL')
})

const level = makeValidator((text) => {
  if (LEVELS.includes(text)) return text
  throw new Error(`must be one of ${LEVELS.join(', ')}`)
})
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

const SECRET_MISSING =
  'SIGNING_SECRET must be set with MONGODB_URI; make one with: openssl rand -hex 32'

const SECRET_TWICE =
  'SIGNING_SECRETS must not be set with SIGNING_SECRET; put that first in the list'

/** All environment variables except those ending in `_FILE`, with their defaults. */
export const VARIABLES = {
  HOST: str({ default: '127.0.0.1' }),
  PORT: port({ default: 3000 }),
  OPS_HOST: str({ default: undefined }),
  OPS_PORT: port({ default: 9090 }),
  ALLOWED_HOSTS: hosts({ default: [] }),
  MONGODB_URI: mongodbUri({ default: undefined }),
  DATA_DIR: str({ default: './data' }),
  SIGNING_SECRET: secret({ default: undefined }),
  SIGNING_SECRETS: secrets({ default: undefined }),
  TOKEN_TTL: duration('1s', '10y')({ default: ms('1d') }),
  BODY_LIMIT: size('8mb')({ default: bytes.parse('1mb')! }),
  STOP_DELAY: duration('0s', '1h')({ default: 0 }),
  STOP_TIMEOUT: duration('0s', '1h')({ default: ms('8s') }), // less than the 10 s of `docker stop`
  DOCS: flag({ default: true }),
  LOG_LEVEL: level({ default: 'info' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl({ default: undefined }),
}

function within(least: number, most: number, value: number, range: string): number {
  if (value >= least && value <= most) return value
  throw new Error(`must be ${range}`)
}
