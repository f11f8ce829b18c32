// The kinds of failures of MongoDB, for people: in the log and at /readyz. A kind has no host, value or credential.
import { MongoServerSelectionError } from 'mongodb'

/** What kind of failure an error of the driver is: the code of its first cause, such as `ECONNREFUSED`. */
export function kindOf(error: unknown): string {
  if (error instanceof MongoServerSelectionError && error.reason) {
    const { servers, setName } = error.reason
    if ([...servers.values()].some(({ type }) => type !== 'Unknown')) return 'no primary'
    if (!error.cause && setName) return 'replica set not found'
  }
  let root = error as Error & { code?: string | number; codeName?: string }
  while (root.cause instanceof Error) root = root.cause
  const { name, code = name, codeName } = root
  return codeName ?? (typeof code === 'number' ? `${name} ${code}` : code) // not every server sends the name
}

/** The server did not respond in time. */
export class TimeoutError extends Error {
  override name = 'TimeoutError'
}
