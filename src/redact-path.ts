// What the log and the traces may show of a path.
import { rawPath } from './http/target.ts'

/**
 * The path of a URL, without what may be an email or a name: only segments of plain characters are shown, and after
 * `/users/` only an id, also if `/users` is the base path.
 */
export const redactPath = (url: string): string =>
  rawPath(url)
    .split('/')
    .map((segment) => (PLAIN.test(segment) ? segment : '…'))
    .join('/')
    .replace(NOT_AN_ID, '…')
    .slice(0, MAX_PATH_LENGTH)

const MAX_PATH_LENGTH = 500 // Docker splits a line of 16 KiB
const PLAIN = /^[\w.~-]*$/ // an email has `@`, or `%` if it is encoded
/** `users/` twice: the base path may be `/users`. */
const NOT_AN_ID = /(?<=\/users\/)(?!(users\/)?[\da-f]{24}$).+/i
