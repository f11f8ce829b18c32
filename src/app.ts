// The path of a request, top to bottom. Never listens, reads no environment.
import Koa from 'koa'
import { createRouter, unmatched } from './contract/router.ts'
import { respondToErrors } from './errors.ts'
import { guard } from './auth/guard.ts'
import { login } from './login.ts'
import { rawPath } from './http/target.ts'
import { serveReference } from './docs/reference.ts'
import type { UserStore } from './store/user-store.ts'
import type { Tokens } from './auth/tokens.ts'
import { users } from './users.ts'

/**
 * A Koa application. It responds to every error, and emits `error` for each 5xx.
 *
 * @param docs whether to serve the contract and its page
 * @param basePath what links to the service begin with: the path at which clients find it
 */
export function createApp(store: UserStore, tokens: Tokens, docs: boolean, basePath = ''): Koa {
  const app = new Koa()
  respondToErrors(app)
  readRawPaths(app)

  app.use(guard(tokens))
  app.use(createRouter({ ...users(store, basePath), ...login(store, tokens) }).routes())
  if (docs) app.use(serveReference(basePath))
  app.use(unmatched)
  return app
}

/** Makes `ctx.path` the path as the client sent it, so that the guard and the router read the same path. */
function readRawPaths(app: Koa): void {
  Object.defineProperty(app.request, 'path', {
    get(this: Koa.Request) {
      return rawPath(this.req.url ?? '')
    },
  })
}
