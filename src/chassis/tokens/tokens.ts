// Issues and verifies bearer tokens (RFC 6750), which are JSON Web Tokens (RFC 7519). Does not use HTTP or a store.
import { createSecretKey, type KeyObject } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { LRUCache } from 'lru-cache'

export type Tokens = ReturnType<typeof createTokens>

export type VerifyResult =
  | { valid: true; id?: string } // the claim `id`: for whom the token was issued
  | { valid: false; reason: Untimely | 'missing' | 'invalid'; signedFor?: string } // its `id`, if a secret has signed it

type Untimely = 'expired' | 'premature'

const BEARER = /^bearer\s+(.+)$/i

/**
 * @param secrets the first signs, all verify; each of at least 32 bytes
 * @param ttl how long a token is valid, in seconds
 */
export function createTokens(secrets: readonly string[], ttl: number) {
  // Made once: if it gets a string, jsonwebtoken makes a key at every call.
  const keys = secrets.map((secret) => createSecretKey(secret, 'utf8'))
  const [signingKey] = keys as [KeyObject]

  /** Valid tokens, by header. Without this cache, a GET by id takes a third more time (`npm run bench`). */
  const cache = new LRUCache<string, { result: VerifyResult; exp: number }>({ max: 10_000 })

  function verifyToken(authorization: string): VerifyResult {
    const token = BEARER.exec(authorization)?.[1]
    if (!token) return { valid: false, reason: 'missing' }
    for (const key of keys) {
      try {
        const { claims, untimely: reason } = readClaims(token, key)
        const id = typeof claims['id'] === 'string' ? claims['id'] : undefined
        if (reason) return { valid: false, reason, ...(id !== undefined && { signedFor: id }) }
        const result = { valid: true, ...(id !== undefined && { id }) } as const
        const { exp = Infinity } = claims
        if (authorization.length <= MAX_CACHED_LENGTH) cache.set(authorization, { result, exp })
        return result
      } catch {} // another key may have signed it
    }
    return { valid: false, reason: 'invalid' }
  }

  return {
    /** A signed token (JWT, HS256) with the claims `id`, `iat` and `exp`. */
    issue: (id: string): string =>
      jwt.sign({ id }, signingKey, { algorithm: 'HS256', expiresIn: ttl }),

    /** Verifies the value of an `Authorization` header. Never throws. */
    verify: (authorization = ''): VerifyResult => {
      const cached = cache.get(authorization)
      if (cached && Math.floor(Date.now() / 1000) < cached.exp) return cached.result
      return verifyToken(authorization)
    },
  }
}

/** The longest `Authorization` header that is cached, in characters. */
const MAX_CACHED_LENGTH = 1_000

/** The claims of a token that `key` has signed, and why it is not valid now. @throws Error it never is */
function readClaims(token: string, key: KeyObject) {
  const { header, payload: claims, untimely } = verifySignature(token, key)
  if ('crit' in header) throw new Error('no extension is understood') // RFC 7515 §4.1.11
  if (!isClaimsSet(claims)) throw new Error('the payload is not a claims set')
  return { claims, untimely }
}

/** Without stack traces, which take a sixth of the time of a 401 (`npm run bench`). */
function verifySignature(token: string, key: KeyObject): jwt.Jwt & { untimely?: Untimely } {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return jwt.verify(token, key, { algorithms: ['HS256'], complete: true })
  } catch (error) {
    const untimely = UNTIMELY[(error as Error).name]
    if (untimely) return { ...jwt.decode(token, { complete: true })!, untimely }
    throw error
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** The errors that jsonwebtoken throws for `exp` and `nbf`: only after it has verified the signature. */
const UNTIMELY: Record<string, Untimely | undefined> = {
  TokenExpiredError: 'expired',
  NotBeforeError: 'premature',
}

/** RFC 7519 §7.2, step 10. */
const isClaimsSet = (payload: unknown): payload is jwt.JwtPayload =>
  typeof payload === 'object' && payload !== null && !Array.isArray(payload)
