// Serves the contract: /docs, a page to read and try it, /openapi.yaml and /openapi.json. Runs after
// the router, so that it does not slow down the operations.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type Koa from 'koa'
import { methodNotAllowed, pathNotFound } from '../failure.ts'

/** The files that `npm run build` copies to dist/docs, next to the page itself. */
const ASSETS = ['page.css', 'page.js', 'openapi-explorer.js']

/** The content of each path, read at the first request for it. */
const PAGES = new Map<string, () => Promise<Page>>([
  ['/openapi.json', readOnce('#openapi.json')],
  ['/openapi.yaml', readOnce('#openapi.yaml')],
  ['/docs', readOnce('#docs/index.html')],
  ...ASSETS.map((name) => [`/docs/${name}`, readOnce(`#docs/${name}`)] as const),
])

interface Page {
  body: Buffer
  etag: string
}

/** @param specifier one of the `imports` in package.json */
function readOnce(specifier: string): () => Promise<Page> {
  let page: Page | undefined
  return async () => {
    if (page) return page
    const body = await readFile(fileURLToPath(import.meta.resolve(specifier)))
    return (page = { body, etag: createHash('sha1').update(body).digest('hex') })
  }
}

/** The page may run only its own scripts and connect only to this service (Content Security Policy Level 3). */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export const reference: Koa.Middleware = async (ctx, next) => {
  if (ctx.path === '/') throw pathNotFound('; see /docs')
  const page = PAGES.get(ctx.path)
  if (!page) return next()
  if (!['GET', 'HEAD'].includes(ctx.method)) throw methodNotAllowed(ctx.method, 'HEAD, GET')
  const { body, etag } = await page()
  ctx.body = body
  ctx.type = mediaTypeOf(ctx.path)
  ctx.etag = etag
  ctx.set('Cache-Control', 'no-cache')
  ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  if (ctx.fresh) ctx.status = 304
}

function mediaTypeOf(path: string): string {
  const extension = extname(path) || '.html'
  return extension === '.yaml' ? 'application/yaml' : extension // RFC 9512; the default of Koa is text/yaml
}
