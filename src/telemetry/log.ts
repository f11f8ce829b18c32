// The log: lines of JSON, or readable lines in a terminal. Never contains a token or a body.
import { inspect } from 'node:util'
import { pino, type DestinationStream, type Logger } from 'pino'

export type { Logger }

/**
 * A logger of `level` and above, to standard output by default.
 *
 * @param onDrop called for each line that could not be written: the disk is full, or the reader too slow
 */
export function createLogger(
  level: string,
  onDrop: () => void = () => {},
  to: DestinationStream = process.stdout.isTTY ? { write: show } : standardOutput(onDrop),
): Logger {
  return pino({ level, base: null, serializers: { err: describe } }, to)
}

/** Writes without waiting. Lines that cannot be written wait in memory, up to a limit, then are dropped. */
function standardOutput(onDrop: () => void): DestinationStream {
  const output = pino.destination({ sync: false, maxLength: LONGEST_QUEUE })
  return output.on('drop', onDrop).on('error', onDrop)
}

/** In UTF-16 code units. */
const LONGEST_QUEUE = 1024 * 1024

/** Shows one line of the log in the terminal: `07:12:33 info listening { port: 3000 }`. */
function show(line: string): void {
  const { time, level, msg, err, ...fields } = JSON.parse(line)
  const clock = new Date(time).toTimeString().slice(0, 8)
  const rest = inspect({ ...fields, ...(err && { err: err.message }) }, { colors: true })
  process.stdout.write(`${clock} ${pino.levels.labels[level]} ${msg} ${rest}\n`)
  if (err?.stack) process.stdout.write(`${err.stack}\n`)
}

/**
 * An error and its causes: only the fields that are known to be harmless, because drivers add whole
 * documents to their errors.
 */
function describe(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack, cause } = error
  const { code } = error as NodeJS.ErrnoException
  return {
    type: name,
    message,
    code,
    stack,
    ...(cause !== undefined && { cause: describe(cause) }),
  }
}
