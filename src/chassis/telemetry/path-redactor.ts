// What the log and the traces may show of a path.
import { rawPath } from '../http/target.ts'

/**
 * Returns a function that returns what may be shown of a URL: its path, with only the segments of plain characters, because
 * others may be personal data.
 *
 * @param redact removes more, as the service knows it
 */
export function pathRedactor(redact = (path: string) => path): (url: string) => string {
  return (url) => {
    const plain = rawPath(url).split('/').map(plainSegment).join('/')
    return redact(plain).slice(0, MAX_PATH_LENGTH)
  }
}

const plainSegment = (segment: string): string => (PLAIN.test(segment) ? segment : '…')

const MAX_PATH_LENGTH = 500 // Docker splits a line of 16 KiB
const PLAIN = /^[\w.~-]*$/ // an address has `@`, or `%` if it is encoded
