// Issues and verifies bearer tokens. Pure: knows no HTTP server, asks no store.
import { createSecretKey } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { LRUCache } from 'lru-cache'

export interface Tokens {
  /** A signed token (JWT, HS256) with the claims `id`, `iat` and `exp`. */
  issue(userId: string): string

  /** Judges the value of an `Authorization` header. Never throws. */
  verify(authorization: string | undefined): Verdict
}

export type Verdict =
  { valid: true } | { valid: false; reason: 'missing' | 'expired' | 'premature' | 'invalid' }

/** The fewest bytes that a key for HS256 may have (RFC 7518 §3.2). */
export const MIN_SECRET_BYTES = 32

const BEARER = /^bearer\s+(.+)$/i // specification, section 5

/**
 * @param secret the signing secret, of at least MIN_SECRET_BYTES
 * @param ttl how long a token is valid, in seconds
 */
export function createTokens(secret: string, ttl: number): Tokens {
  // Made once: given a string, jsonwebtoken would build a key at every call.
  const key = createSecretKey(secret, 'utf8')

  const accepted = new LRUCache<string, number>({ max: REMEMBERED }) // each until its `exp`
  const refused = new LRUCache<string, Verdict>({ max: REMEMBERED }) // apart: they push out no valid one

  function judge(token: string): Verdict {
    try {
      const { header, payload } = jwt.verify(token, key, { algorithms: ['HS256'], complete: true })
      if ('crit' in header || !isClaimsSet(payload)) return INVALID
      if (token.length <= LONGEST) accepted.set(token, payload.exp ?? Infinity)
      return VALID
    } catch (error) {
      const verdict = { valid: false, reason: reasonOf(error) } as const
      if (token.length <= LONGEST && verdict.reason !== 'premature') refused.set(token, verdict)
      return verdict
    }
  }

  return {
    issue: (userId) => jwt.sign({ id: userId }, key, { algorithm: 'HS256', expiresIn: ttl }),
    verify(authorization) {
      const token = authorization?.match(BEARER)?.[1]
      if (!token) return MISSING
      const expiry = accepted.get(token)
      if (expiry !== undefined && seconds() < expiry) return VALID
      return refused.get(token) ?? judge(token)
    },
  }
}

const VALID = { valid: true } as const
const MISSING = { valid: false, reason: 'missing' } as const
const INVALID = { valid: false, reason: 'invalid' } as const

/** How many tokens are remembered, valid ones and others, and how long one may be, in characters. */
const REMEMBERED = 10_000
const LONGEST = 1_000

/** The time as tokens have it (NumericDate, RFC 7519 §2), in whole seconds as jsonwebtoken reads it. */
const seconds = (): number => Math.floor(Date.now() / 1000)

/** RFC 7519 §7.2, step 10. (And of `crit`, RFC 7515 §4.1.11, no extension is understood here.) */
const isClaimsSet = (payload: unknown): payload is jwt.JwtPayload =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload)

function reasonOf(error: unknown): 'expired' | 'premature' | 'invalid' {
  if (error instanceof jwt.TokenExpiredError) return 'expired'
  if (error instanceof jwt.NotBeforeError) return 'premature'
  return 'invalid'
}
