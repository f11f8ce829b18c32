// Issues and verifies bearer tokens. Pure: knows no HTTP server, asks no store.
import { createSecretKey, type KeyObject } from 'node:crypto'
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

export const isLongEnough = (secret: string): boolean =>
  Buffer.byteLength(secret) >= MIN_SECRET_BYTES

const BEARER = /^bearer\s+(.+)$/i // specification, section 5

/**
 * @param secrets the first signs, all verify; each of at least MIN_SECRET_BYTES
 * @param ttl how long a token is valid, in seconds
 */
export function createTokens(secrets: readonly string[], ttl: number): Tokens {
  // Made once: given a string, jsonwebtoken would build a key at every call.
  const keys = secrets.map((secret) => createSecretKey(secret, 'utf8'))
  const [signingKey] = keys as [KeyObject]

  const accepted = new LRUCache<string, Judgement>({ max: 10_000 })
  const refused = new LRUCache<string, Judgement>({ max: 1_000 }) // apart: they push out no valid one

  function judge(authorization: string): Judgement {
    const token = authorization.match(BEARER)?.[1]
    if (!token) return { verdict: MISSING, until: 0 }
    for (const key of keys) {
      const judgement = judgeBy(key, token)
      if (judgement !== REFUSED) return judgement // it was signed with this key
    }
    return REFUSED
  }

  return {
    issue: (userId) => jwt.sign({ id: userId }, signingKey, { algorithm: 'HS256', expiresIn: ttl }),
    verify(authorization = '') {
      const known = accepted.get(authorization) ?? refused.get(authorization)
      if (known && seconds() < known.until) return known.verdict
      accepted.delete(authorization)
      const judgement = judge(authorization)
      const { verdict, until } = judgement
      if (until > 0 && authorization.length <= LONGEST) {
        const memory = verdict.valid ? accepted : refused
        memory.set(authorization, judgement)
      }
      return verdict
    },
  }
}

/** A verdict, and until when it holds: a NumericDate (RFC 7519 §2), 0 for no longer than now. */
interface Judgement {
  verdict: Verdict
  until: number
}

function judgeBy(key: KeyObject, token: string): Judgement {
  try {
    const { header, payload } = jwt.verify(token, key, { algorithms: ['HS256'], complete: true })
    const understood = !('crit' in header) && isClaimsSet(payload)
    return understood ? { verdict: VALID, until: payload.exp ?? Infinity } : REFUSED
  } catch (error) {
    if (error instanceof jwt.TokenExpiredError) return { verdict: EXPIRED, until: 0 }
    if (error instanceof jwt.NotBeforeError) return { verdict: PREMATURE, until: 0 }
    return REFUSED
  }
}

const VALID = { valid: true } as const
const MISSING = { valid: false, reason: 'missing' } as const
const EXPIRED = { valid: false, reason: 'expired' } as const
const PREMATURE = { valid: false, reason: 'premature' } as const
const INVALID = { valid: false, reason: 'invalid' } as const
const REFUSED: Judgement = { verdict: INVALID, until: Infinity }

/** The longest `Authorization` header that is remembered, in characters. */
const LONGEST = 1_000

/** The time, in whole seconds, as jsonwebtoken reads it. */
const seconds = (): number => Math.floor(Date.now() / 1000)

/** RFC 7519 §7.2, step 10. (And of `crit`, RFC 7515 §4.1.11, no extension is understood here.) */
const isClaimsSet = (payload: unknown): payload is jwt.JwtPayload =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload)
