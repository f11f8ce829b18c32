// The log: JSON lines, or readable ones in a terminal. Never has a token or a body in it.
import { pino, type Logger } from 'pino'

export type { Logger }

/** What lines are written to: a stream, a terminal perhaps. */
interface Destination {
  write(line: string): void
  isTTY?: boolean
}

/** A logger of `level` and above. */
export async function createLogger(
  level: string,
  to: Destination = process.stdout,
): Promise<Logger> {
  const options = { level, base: null, serializers: { err: describe } }
  if (!to.isTTY) return pino(options, to)
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ translateTime: 'HH:MM:ss.l', destination: to, sync: true }))
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
