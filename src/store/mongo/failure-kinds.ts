// The kinds of failures of MongoDB, for people: in the log and at /readyz. A kind has no host, value or credential.
import { MongoServerSelectionError } from 'mongodb'

/** What kind of failure an error of the driver is, such as `unknown host`; a rare one has the name of its code. */
export function kindOf(error: unknown): string {
  if (error instanceof MongoServerSelectionError && error.reason) {
    const { servers, setName } = error.reason
    if ([...servers.values()].some(({ type }) => type !== 'Unknown')) return 'no primary'
    if (!error.cause && setName) return 'replica set not found'
  }
  let root = error as NodeJS.ErrnoException & { codeName?: string }
  while (root.cause instanceof Error) root = root.cause
  const { name, code = name, codeName = code, syscall = '' } = root
  return /^(getaddrinfo|query)/.test(syscall) ? 'unknown host' : (KINDS[code] ?? codeName)
}

/** By the name of the error, or its code: https://www.mongodb.com/docs/manual/reference/error-codes/ */
const KINDS: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed',
  MongoNetworkError: 'connection closed',
  EHOSTUNREACH: 'no response',
  MongoNetworkTimeoutError: 'no response',
  MongoServerSelectionError: 'no response',
  TimeoutError: 'no response',
  18: 'authentication failed',
  8000: 'authentication failed', // Atlas
}

/** The server did not respond in time. */
export class TimeoutError extends Error {
  override name = 'TimeoutError'
}
