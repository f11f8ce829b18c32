// The log: JSON lines, or readable ones in a terminal. Never has a token or a body in it.
import { pino, type Logger } from 'pino'

export type { Logger }

/** A logger of `level` and above to standard output. */
export async function createLogger(level: string): Promise<Logger> {
  const options = { level, base: null, serializers: { err: describe } }
  if (!process.stdout.isTTY) return pino(options)
  const { default: pretty } = await import('pino-pretty')
  return pino(options, pretty({ colorize: true, translateTime: 'HH:MM:ss.l', sync: true }))
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
