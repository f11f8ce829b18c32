// The environment variables of every service, with their defaults. Times are in milliseconds, sizes in bytes.
import bytes from 'bytes'
import ms from 'ms'
import { SERVER_LIMITS } from '../http/limits.ts'
import { duration, integer, list, number, text, variable } from './validators.ts'

const port = integer(0, 65_535)

/** A size such as `512kb` or `1mb`; a number without a unit means bytes. */
const size = number('a size between 1b and 1mb', 1, 1_048_576, (text) =>
  /^\d+(\.\d+)?([km]?b)?$/i.test(text) ? bytes.parse(text)! : NaN,
)

const HOST = /^(\w[\w.-]*|\[[\da-f:.]+\])$/i
const hosts = list('host names without ports or wildcards', (name) => HOST.test(name))

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

const URL_RULE = 'be a URL that begins with http:// or https://'
const isHttpUrl = (url: string) => /^https?:\/\//i.test(url) && URL.canParse(url)
const httpUrl = text(URL_RULE, isHttpUrl)
/** OpenTelemetry adds `/v1/traces` at its end. */
const httpBase = text(`${URL_RULE}, without ? or #`, (url) => isHttpUrl(url) && !/[?#]/.test(url))

export const VARIABLES = {
  HOST: text()({ default: '127.0.0.1' }),
  PORT: port({ default: 3000 }),
  OPS_HOST: text()({ default: '127.0.0.1' }), // by default, the value of HOST
  OPS_PORT: port({ default: 9090 }),
  ALLOWED_HOSTS: hosts({ default: [] }),
  BASE_PATH: basePath({ default: '' }),
  BODY_LIMIT: size({ default: 102_400 }),
  MAX_CONNECTIONS: integer(1, 100_000)({ default: SERVER_LIMITS.maxConnections }),
  STOP_DELAY: duration('0s', '1h')({ default: 0 }), // after a signal, while not ready
  STOP_TIMEOUT: duration('0s', '1h')({ default: ms('8s') }), // after that; less than the 10 s of `docker stop`
  DOCS: flag({ default: true }),
  LOG_LEVEL: level({ default: 'info' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpBase({ default: undefined }), // OpenTelemetry reads it, too
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl({ default: undefined }),
}
