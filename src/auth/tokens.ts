// Issues and verifies bearer tokens (specification, section 5). Does not use HTTP or a store.
import { createSecretKey, type KeyObject } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { LRUCache } from 'lru-cache'

export interface Tokens {
  /** A signed token (JWT, HS256) with the claims `id`, `iat` and `exp`. */
  issue: (userId: string) => string

  /** Judges the value of an `Authorization` header. Never throws. */
  verify: (authorization: string | undefined) => Verdict
}

export type Verdict =
  | { valid: true; userId?: string } // the claim `id`: the user for whom the token was issued
  | { valid: false; reason: 'missing' | 'expired' | 'premature' | 'invalid' }

/** The fewest bytes that a key for HS256 may have (RFC 7518 §3.2). */
export const MIN_SECRET_BYTES = 32

export const isLongEnough = (secret: string): boolean =>
  Buffer.byteLength(secret) >= MIN_SECRET_BYTES

const BEARER = /^bearer\s+(.+)$/i

/**
 * @param secrets the first signs, all verify; each of at least MIN_SECRET_BYTES
 * @param ttl how long a token is valid, in seconds
 */
export function createTokens(secrets: readonly string[], ttl: number): Tokens {
  // Made once: if it gets a string, jsonwebtoken makes a key at every call.
  const keys = secrets.map((secret) => createSecretKey(secret, 'utf8'))
  const [signingKey] = keys as [KeyObject]

  /** Valid tokens, by header. Without this cache, a GET by id takes a third more time (`npm run bench`). */
  const accepted = new LRUCache<string, { verdict: Verdict; expires: number }>({ max: 10_000 })

  function judge(authorization: string): Verdict {
    const token = BEARER.exec(authorization)?.[1]
    if (!token) return { valid: false, reason: 'missing' }
    let refusal: Verdict = { valid: false, reason: 'invalid' }
    for (const key of keys) {
      try {
        const { id, exp: expires = Infinity } = claimsOf(token, key)
        const verdict = { valid: true, ...(typeof id === 'string' && { userId: id }) } as const
        if (authorization.length <= LONGEST) accepted.set(authorization, { verdict, expires })
        return verdict
      } catch (error) {
        if (error instanceof jwt.TokenExpiredError) refusal = { valid: false, reason: 'expired' }
        if (error instanceof jwt.NotBeforeError) refusal = { valid: false, reason: 'premature' }
      }
    }
    return refusal
  }

  return {
    issue: (userId) => jwt.sign({ id: userId }, signingKey, { algorithm: 'HS256', expiresIn: ttl }),
    verify(authorization = '') {
      const known = accepted.get(authorization)
      if (known && Math.floor(Date.now() / 1000) < known.expires) return known.verdict
      accepted.delete(authorization)
      return judge(authorization)
    },
  }
}

/** The longest `Authorization` header that is remembered, in characters. */
const LONGEST = 1_000

/** The claims of a token that `key` has signed. @throws Error it is not valid */
function claimsOf(token: string, key: KeyObject): jwt.JwtPayload {
  const { header, payload } = verified(token, key)
  if ('crit' in header) throw new Error('no extension is understood') // RFC 7515 §4.1.11
  if (!isClaimsSet(payload)) throw new Error('the payload is not a claims set')
  return payload
}

/** Without stack traces, which take a sixth of the time of a 401 (`npm run bench`). */
function verified(token: string, key: KeyObject): jwt.Jwt {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return jwt.verify(token, key, { algorithms: ['HS256'], complete: true })
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** RFC 7519 §7.2, step 10. */
const isClaimsSet = (payload: unknown): payload is jwt.JwtPayload =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload)
