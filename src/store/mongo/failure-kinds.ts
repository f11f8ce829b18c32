// The kinds of failures of MongoDB, for people: in the log and at /readyz. A kind has no host, value or credential.
import { MongoServerSelectionError } from 'mongodb'

/** What kind of failure an error of the driver is, such as `unknown host`; a rare one has the name of its code. */
export function kindOf(error: unknown): string {
  if (error instanceof MongoServerSelectionError && error.reason) {
    const { servers, setName } = error.reason
    if ([...servers.values()].some(({ type }) => type !== 'Unknown')) return 'no primary'
    if (!error.cause && setName) return 'replica set not found'
  }
  let root = error as Error & { code?: string | number; codeName?: string; syscall?: string }
  while (root.cause instanceof Error) root = root.cause
  const { name, code = name, codeName = String(code), syscall = '' } = root
  if (/^(getaddrinfo|query)/.test(syscall)) return 'unknown host'
  if (TLS.test(codeName)) return 'TLS refused'
  return KINDS[code] ?? codeName
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
  // Not every server sends the name of a code.
  13: 'Unauthorized',
  18: 'authentication failed',
  301: 'retryable writes are not supported', // Amazon DocumentDB
  8000: 'refused by Atlas', // a wrong password, a full quota: its message says which
  11000: 'DuplicateKey',
  16500: 'TooManyRequests', // Azure Cosmos DB
}

/** https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const TLS = /CERT|^ERR_(SSL|TLS)|^EPROTO$|^UNABLE_TO_VERIFY|^INVALID_CA$|^HOSTNAME_MISMATCH$/

/** The server did not respond in time. */
export class TimeoutError extends Error {
  override name = 'TimeoutError'
}
