// The path of a request, top to bottom. Never listens, reads no environment.
import Koa from 'koa'
import { createRouter, unmatched } from './contract/router.ts'
import { answerErrors } from './errors.ts'
import { guard } from './auth/guard.ts'
import { login } from './login.ts'
import { rawPath } from './http/target.ts'
import { reference } from './docs/reference.ts'
import type { UserStore } from './store/user-store.ts'
import type { Tokens } from './auth/tokens.ts'
import { users } from './users.ts'

interface Parts {
  store: UserStore
  tokens: Tokens
  /** The largest request body, in bytes. */
  bodyLimit: number
  /** Whether to serve the contract, and a page to read and try it. */
  docs: boolean
}

/** A Koa application that emits `error` for every failure of its own (5xx), and answers all of them. */
export function createApp({ store, tokens, bodyLimit, docs }: Parts): Koa {
  const app = new Koa()
  answerErrors(app)
  readRawPaths(app)

  app.use(guard(tokens))
  app.use(createRouter({ ...users(store), ...login(store, tokens) }, bodyLimit).routes())
  if (docs) app.use(reference)
  app.use(unmatched)
  return app
}

/** Guard and router both read `ctx.path`: here it becomes what the client sent, for both. */
function readRawPaths(app: Koa): void {
  Object.defineProperty(app.request, 'path', {
    get(this: Koa.Request) {
      return rawPath(this.req.url ?? '')
    },
  })
}
