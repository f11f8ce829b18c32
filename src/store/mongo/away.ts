// Whether an error of the driver may pass without a change of the configuration.
import {
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from 'mongodb'

/** Whether the server could not be reached or cannot work now, which may change; otherwise it has refused. */
export function isAway(error: unknown): boolean {
  if (error instanceof MongoServerError) return PASSING.has(Number(error.code))
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException
  return (
    AWAY.some((kind) => error instanceof kind) || (syscall.startsWith('query') && DNS.has(code))
  )
}

/** The server did not respond in time. */
export class TimedOut extends Error {
  constructor(patience: number) {
    super(`no answer within ${patience} ms`)
  }
}

const AWAY = [MongoNetworkError, MongoServerSelectionError, MongoTopologyClosedError, TimedOut]

/** DNS has no record yet, such as a headless Service without a ready pod, or does not respond. */
const DNS = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'ETIMEOUT', 'ECONNREFUSED'])

/**
 * The server stops, elects a primary or cannot reach others:
 * https://github.com/mongodb/specifications/blob/master/source/retryable-reads/retryable-reads.md
 */
const PASSING = new Set([6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436])
