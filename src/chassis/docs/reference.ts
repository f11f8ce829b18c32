// Serves the contract: /docs, a page to read and try it, /openapi.yaml and /openapi.json. Runs after
// the router, so that it does not slow down the operations.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { load } from 'js-yaml'
import type Koa from 'koa'
import type { Contract } from '../contract/contract.ts'
import { methodNotAllowed, pathNotFound } from '../contract/router.ts'

/**
 * The page may run only its own scripts and connect only to this service (Content Security Policy Level 3). OpenAPI
 * Explorer has inline styles, and shows an image of a response as a blob.
 */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The files of the page, by their paths. */
export type Page = ReturnType<typeof readPage>

/** Reads the page at the start, so that all responses share its memory. @param warn gets why there is none: it is empty then */
export function readPage(warn: (text: string) => void): Map<string, Buffer> {
  try {
    return new Map([
      ['/docs', read('index.html')],
      ['/docs/page.css', read('page.css')],
      ['/docs/page.js', read('page.js')],
      ['/docs/openapi-explorer.js', read('openapi-explorer.js')],
    ])
  } catch (error) {
    warn(`/docs is not served: ${(error as Error).message}`) // a bundler leaves out the files
    return new Map()
  }
}

/** @param basePath the path at which clients find the service: the server in the contract */
export function serveReference(
  { contents }: Pick<Contract<unknown>, 'contents'>,
  page: Page,
  basePath: string,
): Koa.Middleware {
  const { text, document } = contents()
  const yaml = basePath ? withServer(text, basePath, document.servers[0]!.url) : text
  const bodies: [string, Buffer][] = [
    ...page,
    ['/openapi.yaml', Buffer.from(yaml)],
    ['/openapi.json', Buffer.from(JSON.stringify(basePath ? load(yaml) : document))],
  ]
  const pages = new Map(bodies.map(([path, body]) => [path, { body, etag: hash('sha1', body) }]))
  const hint = page.size > 0 ? '/docs' : '/openapi.yaml'
  return async (ctx, next) => {
    if (ctx.path === '/') throw pathNotFound(`; see ${basePath}${hint}`)
    const found = pages.get(ctx.path)
    if (!found) return next()
    if (!['GET', 'HEAD'].includes(ctx.method)) throw methodNotAllowed(ctx.method, 'HEAD, GET')
    ctx.body = found.body
    const extension = extname(ctx.path) || '.html'
    ctx.type = extension === '.yaml' ? YAML_TYPE : extension
    ctx.etag = found.etag
    ctx.set('Cache-Control', 'no-cache') // unchanged until the next version, which has another ETag
    ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    if (ctx.fresh) ctx.status = 304
  }
}

/** A file of the page: `imports` in package.json says where they are. `npm run build` copies them to dist/docs. */
const read = (file: string) => readFileSync(fileURLToPath(import.meta.resolve(`#docs/${file}`)))

/** RFC 9512. With a charset, because some clients take Latin-1 otherwise. */
const YAML_TYPE = 'application/yaml; charset=utf-8'

/** The contract in YAML with `url` as its first server, in place of `former`. All else stays as it is, comments too. */
function withServer(contract: string, url: string, former: string): string {
  const escaped = former.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
  return contract.replace(RegExp(`^(servers:[^]*?\\burl:[ \\t]*["']?)${escaped}`, 'm'), `$1${url}`)
}
