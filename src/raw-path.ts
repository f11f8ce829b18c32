// The path of a request, exactly as it was sent: nothing decoded, collapsed or dropped.

/**
 * The path in a request target (RFC 9112 §3.2): of `/users?x` and of `http://host/users?x` it is
 * `/users`. A target without one, such as `*`, is its own path.
 */
export function rawPath(target: string): string {
  const origin = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, '')
  const query = origin.indexOf('?')
  return query === -1 ? origin : origin.slice(0, query)
}
