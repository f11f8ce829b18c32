// Who may pass: the first app.use. Never throws, never reads a body, never asks a store.
import type Koa from 'koa'
import { answer, unauthorized } from '../http/failure.ts'
import { isRepeated } from '../http/headers.ts'
import type { Request } from '../http/request.ts'
import type { Tokens } from './tokens.ts'

/** Paths that match are protected: tested as they were sent, not anchored (specification, section 5). */
export const PROTECTED = /\/users/

const REFUSAL = unauthorized() // the same for every request

export function guard(tokens: Pick<Tokens, 'verify'>): Koa.Middleware {
  return async function guard(ctx, next) {
    if (!PROTECTED.test(ctx.path)) return next()
    const { headers, rawHeaders } = ctx.req
    const verdict = isRepeated(rawHeaders, 'authorization')
      ? AMBIGUOUS
      : tokens.verify(headers.authorization)
    if (verdict.valid) return next()
    const request = ctx.req as Request
    request.refused = verdict.reason // for the log and the metrics only
    answer(ctx, REFUSAL)
  }
}

/** Of several headers a proxy may have judged another one than Node hands on, the first. */
const AMBIGUOUS = { valid: false, reason: 'invalid' } as const
