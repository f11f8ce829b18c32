// The path of a request, top to bottom. Never listens, reads no environment.
import Koa from 'koa'
import { complete } from './complete.ts'
import type { Contract } from './contract/contract.ts'
import { createRouter, pathNotFound, unmatched } from './contract/router.ts'
import { serveReference, type Page } from './docs/reference.ts'
import { respondToErrors } from './errors.ts'
import { rawPath } from './http/target.ts'
import type { Parts } from './service.ts'

/**
 * A Koa application. It responds to every error, and emits `error` for each 5xx.
 *
 * @param page the files of the page, to serve the contract; undefined to serve neither
 * @param basePath what the path of each request and of each link begins with: where clients find the service
 */
export function createApp<Operations, Caller>(
  contract: Contract<Operations>,
  { guard, handlers, toHttpError }: Omit<Parts<Operations, Caller>, 'store'>,
  page: Page | undefined,
  basePath = '',
): Koa {
  const app = new Koa()
  respondToErrors(app, toHttpError)
  readRawPaths(app, basePath)

  app.use(complete(guard))
  if (basePath) app.use(onlyUnder(basePath))
  app.use(createRouter(contract, handlers).routes())
  if (page) app.use(serveReference(contract, page, basePath))
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

/** Runs after the guard, which also sees other paths. */
function onlyUnder(basePath: string): Koa.Middleware {
  return (ctx, next) => {
    if (isUnder(rawPath(ctx.url), basePath)) return next()
    throw pathNotFound(`; the paths of this service begin with ${basePath}`)
  }
}

/** Whether `path` begins with all segments of `basePath`. */
const isUnder = (path: string, basePath: string): boolean =>
  path === basePath || path.startsWith(`${basePath}/`)
