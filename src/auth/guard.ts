// Decides which requests may pass: the first app.use. Never throws, never reads a body, never calls a store.
import type Koa from 'koa'
import { answer, unauthorized } from '../http/failure.ts'
import { isRepeated } from '../http/headers.ts'
import type { Request } from '../http/request.ts'
import type { Tokens, Verdict } from './tokens.ts'

/** Paths that match are protected. The path is tested as the client sent it (specification, section 5). */
export const PROTECTED = /\/users/

const REFUSAL = unauthorized() // the same for every request

export function guard(tokens: Pick<Tokens, 'verify'>): Koa.Middleware {
  return async function guard(ctx, next) {
    const isProtected = PROTECTED.test(ctx.path)
    ctx.set('Cache-Control', isProtected ? 'private, no-cache' : 'no-store')
    if (!isProtected) return next()
    const request = ctx.req as Request
    const verdict = verdictOn(request, tokens)
    if (verdict.valid) {
      if (verdict.userId !== undefined) request.userId = verdict.userId
      return next()
    }
    request.refused = verdict.reason // for the log and the metrics only
    answer(ctx, REFUSAL)
  }
}

/** Of several `Authorization` headers, Node keeps only the first; a proxy may have checked another one. */
function verdictOn({ headers, rawHeaders }: Request, tokens: Pick<Tokens, 'verify'>): Verdict {
  if (isRepeated(rawHeaders, 'authorization')) return { valid: false, reason: 'invalid' }
  return tokens.verify(headers.authorization)
}
