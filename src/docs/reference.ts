// Serves the contract: /docs, a page to read and try it, /openapi.yaml and /openapi.json. Runs after
// the router, so that it does not slow down the operations.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type Koa from 'koa'
import { methodNotAllowed, pathNotFound } from '../contract/router.ts'

/** What `imports` in package.json names for each path. `npm run build` copies the files of the page to dist/docs. */
const FILES: Record<string, string> = {
  '/openapi.json': '#openapi.json',
  '/openapi.yaml': '#openapi.yaml',
  '/docs': '#docs/index.html',
  '/docs/page.css': '#docs/page.css',
  '/docs/page.js': '#docs/page.js',
  '/docs/openapi-explorer.js': '#docs/openapi-explorer.js',
}

/**
 * The page may run only its own scripts and connect only to this service (Content Security Policy Level 3). OpenAPI
 * Explorer has inline styles, and shows an image of a response as a blob.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/**
 * Reads all files at the start, so that all responses share their memory.
 *
 * @param basePath the path at which clients find the service: the server in the contract
 */
export function serveReference(basePath: string): Koa.Middleware {
  const pages = new Map(
    Object.entries(FILES).map(([path, file]) => {
      const bytes = readFileSync(fileURLToPath(import.meta.resolve(file)))
      const body = path.startsWith('/openapi.') ? withServer(bytes, basePath || '/') : bytes
      return [path, { body, etag: hash('sha1', body) }]
    }),
  )
  return async (ctx, next) => {
    if (ctx.path === '/') throw pathNotFound(`; see ${basePath}/docs`)
    const page = pages.get(ctx.path)
    if (!page) return next()
    if (!['GET', 'HEAD'].includes(ctx.method)) throw methodNotAllowed(ctx.method, 'HEAD, GET')
    ctx.body = page.body
    const extension = extname(ctx.path) || '.html'
    ctx.type = extension === '.yaml' ? 'application/yaml' : extension // RFC 9512; the default of Koa is text/yaml
    ctx.etag = page.etag
    ctx.set('Cache-Control', 'no-cache')
    ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    if (ctx.fresh) ctx.status = 304
  }
}

/** The contract, in YAML or JSON, with another server. All else stays as it is, comments too. */
const withServer = (contract: Buffer, url: string): Buffer =>
  Buffer.from(contract.toString().replace(SERVER, `$1${url}`))

const SERVER = /(\nservers:\n {2}- url: |"servers":\[\{"url":")\//
