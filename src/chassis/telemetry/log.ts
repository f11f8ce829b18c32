// The log: lines of JSON. Never contains a token or a body.
import { withoutValues } from '../failure.ts'
import { pino, type DestinationStream } from 'pino'

/** Without `child`, whose own fields `inOnePiece` would leave out. */
export type Logger = Pick<pino.Logger, 'error' | 'info' | 'warn'>

/**
 * A logger of `level` and above, to standard output by default.
 *
 * @param onDrop called for each line that is dropped: the disk is full, or the reader too slow
 */
export function createLogger(
  level: string,
  onDrop: () => void = () => {},
  destination = standardOutput(onDrop),
): Logger {
  const serializers = { err: serializeError }
  const hooks = { streamWrite: escapeControlCharacters }
  const formatters = { level: (name: string) => ({ level: name }) }
  const timestamp = createTimestamp()
  const options = { level, base: null, serializers, hooks, formatters, timestamp }
  return inOnePiece(pino(options, destination))
}

type Write = (fields: object, msg: unknown, level: number, time: string) => string

/**
 * Writes fields with one JSON.stringify: one by one, as pino writes them, a GET by id takes 4 to 6 % more on Node 20, and
 * 2 % on 24. Leaves errors to pino, and what JSON.stringify refuses.
 */
function inOnePiece(logger: pino.Logger): Logger {
  const { asJsonSym } = pino.symbols // https://getpino.io/#/docs/api?id=pino-symbols-object
  const byField = (Reflect.get(logger, asJsonSym) as Write).bind(logger)
  const write: Write = (fields, msg, level, time) => {
    const text = 'err' in fields || typeof msg !== 'string' ? undefined : jsonOf(fields)
    if (!text?.startsWith('{')) return byField(fields, msg, level, time)
    const end = `${text === '{}' ? '' : ','}${text.slice(1, -1)},"msg":${JSON.stringify(msg)}}\n`
    return `{"level":"${logger.levels.labels[level]}"${time}${end}`
  }
  return Object.assign(logger, { [asJsonSym]: write })
}

function jsonOf(fields: object): string | undefined {
  try {
    return JSON.stringify(fields)
  } catch {
    return undefined
  }
}

/** A function that returns the field with the time, in UTC. It keeps the second: a line takes 1 µs less. */
function createTimestamp(): () => string {
  let second = NaN
  let field = ''
  return () => {
    const now = Date.now()
    const ms = now % 1000
    if (now - ms !== second) {
      second = now - ms
      field = `,"time":"${new Date(now).toISOString().slice(0, -4)}`
    }
    return `${field}${String(ms).padStart(3, '0')}Z"`
  }
}

/** While standard output cannot be written, keeps lines of up to `maxLength` bytes, and drops further ones, some at a time. */
function standardOutput(onDrop: () => void): DestinationStream {
  const stdout = pino.destination({
    fd: 1,
    sync: true, // an asynchronous write takes more CPU time, and the exit tears the one in flight
    maxLength: 1024 * 1024,
    retryEAGAIN: () => false, // at the next write: a retry at once would block until the reader has read
  })
  let lines = '' // joined here: the library measures all that wait again at each write, 3 % of a GET by id on Node 24
  const flush = () => {
    stdout.write(lines)
    lines = ''
  }
  const retry = () => {
    stdout.write('') // tries to write what waits, also while further lines are dropped
    flush()
  }
  setInterval(retry, 100).unref() // in milliseconds
  process.once('exit', retry) // flushSync() would try for ever if the disk is full
  // pino's own listener ends the process when the disk is full, and does not count when the reader is gone.
  stdout.removeAllListeners('error').on('error', () => {})
  stdout.on('drop', (dropped: string) => dropped.match(/\n/g)?.forEach(onDrop))
  return {
    write(line) {
      lines += line
      if (lines.length >= 4_096) flush() // a line that is written alone takes 1 µs more
    },
  }
}

/** Escapes the control characters that JSON does not: a terminal would obey them. */
const escapeControlCharacters = (text: string): string =>
  text.replace(/[\x7f-\x9f]/g, (control) => `\\u00${control.charCodeAt(0).toString(16)}`)

/** An error and its causes. Only these fields, because drivers add whole documents to their errors. */
function serializeError(error: unknown, depth = 0): object {
  const message = messageOf(error)
  if (!(error instanceof Error)) return { message }
  try {
    return fieldsOf(error, message, depth)
  } catch {
    return { message } // one of its properties throws
  }
}

function fieldsOf(error: Error, message: string, depth: number): object {
  const { name: type, cause, code } = error as NodeJS.ErrnoException
  const { stack }: { stack?: unknown } = error // no text, if somebody has set Error.prepareStackTrace
  const shown = typeof stack === 'string' ? stack.replace(error.message, () => message) : undefined
  const fields = { type, message, code, stack: shown }
  const isLast = cause === undefined || depth === MAX_CAUSES
  return isLast ? fields : { ...fields, cause: serializeError(cause, depth + 1) }
}

/** Of an error that is its own cause, there would be no end. */
const MAX_CAUSES = 10

/** The message of whatever was thrown, without values. */
export function messageOf(error: unknown): string {
  try {
    return withoutValues(error instanceof Error ? error.message : String(error))
  } catch {
    return UNREADABLE
  }
}

const UNREADABLE = 'what was thrown has no message that can be read'
