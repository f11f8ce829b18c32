// Decides which requests may pass: the first app.use. Never reads a body, never calls a store.
import { HttpError, type Guard, type Tokens } from '../chassis/index.ts'

/** Paths that match are protected, as the client sent them: `/users` anywhere in one, however it is routed. */
export const PROTECTED = /\/users/

/** What a 401 has (RFC 6750 §3). */
export const CHALLENGE = { headers: { 'WWW-Authenticate': 'Bearer realm="users"' } }

const REFUSED = new HttpError(401, 'unauthorized', 'a valid bearer token is required', CHALLENGE)

/**
 * The user that a token was issued for. The contract asks for a valid token, not for an existing user: so a token of
 * another program that has the secret is valid without an id, too.
 */
interface Caller {
  id?: string
}

/** The field of the log for the user of the token; of a log-in, for the user who logged in. */
export const CALLER = 'user'

/** Only such an id is logged: a token of another program may have an email. */
const USER_ID = /^[0-9a-f]{24}$/

export function guard(tokens: Pick<Tokens, 'verify'>): Guard<Caller> {
  return (ctx, next) => {
    if (!PROTECTED.test(ctx.path)) return next()
    ctx.set('Cache-Control', 'private, no-cache')
    // Node joins several headers of this name, and the result is not a token.
    const result = tokens.verify(ctx.req.headers.authorization)
    const id = result.valid ? result.id : result.signedFor
    if (id !== undefined) ctx.req.log[CALLER] = USER_ID.test(id) ? id : '…'
    if (result.valid) {
      ctx.req.identify(result)
      return next()
    }
    ctx.req.log.refused = result.reason // for the log and the metrics only
    throw REFUSED
  }
}
