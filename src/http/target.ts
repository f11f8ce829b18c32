// The path of a request and its query, exactly as they were sent: nothing decoded, collapsed or dropped.

/**
 * The path in a request target (RFC 9112 §3.2): of `/users?x` and of `http://host/users?x` it is
 * `/users`. A target without one, such as `*`, is its own path.
 */
export const rawPath = (target: string): string =>
  (target.startsWith('/') ? target : target.replace(ORIGIN, '')).split('?', 1)[0]!

/** The scheme and the host of an absolute target. */
const ORIGIN = /^https?:\/\/([^/?]*)/i

/**
 * The target without `basePath` at the start of its path. The target stays as it is if its path does not begin with
 * these segments: a proxy may have removed them.
 */
export function withoutBasePath(target: string, basePath: string): string {
  const [origin = ''] = ORIGIN.exec(target) ?? []
  if (!target.startsWith(basePath, origin.length)) return target
  const rest = target.slice(origin.length + basePath.length)
  if (!/^(\/|\?|$)/.test(rest)) return target
  return origin + (rest.startsWith('/') ? rest : `/${rest}`)
}

/** The host of an absolute target; it overrules `Host` (RFC 9112 §3.2.2). */
export const hostOf = (target: string): string | undefined => ORIGIN.exec(target)?.[1]

/** The query in a request target, without its question mark; empty if there is none. */
export const rawQuery = (target: string): string => target.replace(/^[^?]*\??/, '')
