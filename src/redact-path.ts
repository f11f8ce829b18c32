// What the log and the traces may show of a path.
import { rawPath } from './http/target.ts'

/**
 * The path of a URL, without what may be an email or a name: after `/users/`, only an id is shown, also if `/users` is
 * the base path. A longer path is cut: Docker splits a line of 16 KiB.
 */
export function redactPath(url: string): string {
  const path = rawPath(url).replace(PERSONAL, '…')
  return path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}…` : path
}

const MAX_PATH_LENGTH = 500
const PERSONAL =
  /(?<=\/users[^\w.~-])(?!(users\/)?[\da-f]{24}$).+|(?<![^/])[^/]*(?:@|%(?:25)*40)[^/]*/gis
