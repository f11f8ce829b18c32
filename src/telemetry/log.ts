// The log: JSON lines, or readable ones in a terminal. Never has a token or a body in it.
import { pino, type DestinationStream, type Logger } from 'pino'

export type { Logger }

/** A logger of `level` and above, to standard output unless told otherwise. */
export async function createLogger(level: string, to?: DestinationStream): Promise<Logger> {
  const options = { level, base: null, serializers: { err: describe } }
  if (to) return pino(options, to)
  if (!process.stdout.isTTY) return pino(options, writeByTurns())
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ translateTime: 'HH:MM:ss.l', singleLine: true, sync: true }))
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
