// The path of a request, top to bottom. Never listens, reads no environment.
import Koa from 'koa'
import { createRouter, pathNotFound, unmatched } from './contract/router.ts'
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
 * @param basePath what the path of each request and of each link begins with: where clients find the service
 */
export function createApp(store: UserStore, tokens: Tokens, docs: boolean, basePath = ''): Koa {
  const app = new Koa()
  respondToErrors(app)
  readRawPaths(app, basePath)

  app.use(guard(tokens))
  if (basePath) app.use(onlyUnder(basePath))
  app.use(createRouter({ ...users(store, basePath), ...login(store, tokens) }).routes())
  if (docs) app.use(serveReference(basePath))
  app.use(unmatched)
  return app
}

/** Makes `ctx.path` the path as the client sent it, without `basePath`, so that the guard and the router read the same. */
function readRawPaths(app: Koa, basePath: string): void {
  Object.defineProperty(app.request, 'path', {
    get(this: Koa.Request) {
      const path = rawPath(this.url)
      return basePath && isUnder(path, basePath) ? path.slice(basePath.length) || '/' : path
    },
  })
}

/** Runs after the guard: what contains `/users` gets 401 without a token, here too. */
function onlyUnder(basePath: string): Koa.Middleware {
  return (ctx, next) => {
    if (isUnder(rawPath(ctx.url), basePath)) return next()
    throw pathNotFound(`; the paths of this service begin with ${basePath}`)
  }
}

/** Whether `path` begins with all segments of `basePath`. */
const isUnder = (path: string, basePath: string): boolean =>
  path === basePath || path.startsWith(`${basePath}/`)
