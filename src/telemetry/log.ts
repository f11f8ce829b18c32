// The log: JSON lines, or readable ones in a terminal. Never has a token or a body in it.
import { inspect } from 'node:util'
import { pino, type DestinationStream, type Logger } from 'pino'

export type { Logger }

/** A logger of `level` and above, to standard output unless told otherwise. */
export async function createLogger(level: string, to?: DestinationStream): Promise<Logger> {
  const options = { level, base: null, serializers: { err: describe } }
  if (to) return pino(options, to)
  return pino(options, process.stdout.isTTY ? { write: show } : writeByTurns())
}

/** Shows one line of the log in the terminal: `07:12:33 info listening { port: 3000 }`. */
function show(line: string): void {
  const { time, level, msg, err, ...fields } = JSON.parse(line)
  const clock = new Date(time).toTimeString().slice(0, 8)
  const rest = inspect({ ...fields, ...(err && { err: err.message }) }, { colors: true })
  process.stdout.write(`${clock} ${pino.levels.labels[level]} ${msg} ${rest}\n`)
  if (err?.stack) process.stdout.write(`${err.stack}\n`)
}

/** Standard output; the lines of one turn of the event loop are one write. It keeps the order. */
function writeByTurns(): DestinationStream {
  const output = pino.destination({ sync: true })
  let lines = ''
  const write = () => {
    if (lines) output.write(lines)
    lines = ''
  }
  process.on('exit', write)
  return {
    write(line) {
      if (!lines) setImmediate(write)
      lines += line
    },
  }
}

/**
 * An error and its causes, by the fields that are known to be harmless: a driver hangs whole
 * documents on its errors.
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
