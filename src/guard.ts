// Who may pass: the first app.use. Never throws, never reads a body, never asks a store.
import type Koa from 'koa'
import { answer, unauthorized } from './errors.ts'
import type { Tokens } from './tokens.ts'

/** Paths that match are protected: tested as they were sent, not anchored (specification, section 5). */
export const PROTECTED = /\/users/

export function guard(tokens: Pick<Tokens, 'verify'>): Koa.Middleware {
  return async (ctx, next) => {
    const refused = PROTECTED.test(ctx.path) && !tokens.verify(ctx.req.headers.authorization).valid
    if (refused) answer(ctx, unauthorized())
    else await next()
  }
}
