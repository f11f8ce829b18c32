// The contract's paths as routes. No path, method or status is written here.
import { Router, type Layer } from '@koa/router'
import type Koa from 'koa'
import type { OnServer } from '../http/context.ts'
import { HttpError } from '../http/http-error.ts'
import type { IncomingRequest } from '../http/request.ts'
import { rawQuery } from '../http/target.ts'
import { bodyReader } from './body.ts'
import type { Contract } from './contract.ts'
import type { Handlers } from './handlers.ts'
import { headerReader } from './header.ts'
import type { Operation } from './operation.ts'
import { queryReader } from './query.ts'
import { replyWriter, type Reply } from './reply.ts'

type Handler = (input: object, client: IncomingRequest) => Reply | Promise<Reply>

/** Routes every operation of the contract to its handler. @throws Error it has none */
export function createRouter<Operations, Caller>(
  contract: Contract<Operations>,
  handlers: Handlers<Operations, Caller>,
): Router<Koa.DefaultState, OnServer> {
  const byId = handlers as unknown as Record<string, Handler>
  const router = new Router<Koa.DefaultState, OnServer>({ sensitive: true, strict: true })
  for (const operation of contract.contents().operations.toSorted(byPrecedence)) {
    const handler = byId[operation.id]
    if (typeof handler !== 'function') throw new Error(`${operation.id} has no handler: ${STALE}`)
    const route = operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
    const middleware = operationMiddleware(route, operation, handler)
    router.register(route, [operation.method], middleware)
  }
  return router
}

/** A name comes before a parameter in its place (OpenAPI 3.0.3, Path Templating Matching): `{` sorts after its characters. */
const byPrecedence = (a: Operation, b: Operation) =>
  Number(rankOf(a) > rankOf(b)) - Number(rankOf(a) < rankOf(b))
const rankOf = ({ path }: Operation): string => path.replaceAll(/\{\w+\}/g, '{')

export const pathNotFound = (hint = '') =>
  new HttpError(404, 'path_not_found', `path not found${hint}`)
export const methodNotAllowed = (method: string, Allow: string) =>
  new HttpError(405, 'method_not_allowed', `the method ${method} is not allowed on this path`, {
    headers: { Allow },
  })

/** The response when no route matches: 405 if the contract has the path, else 404. */
export const unmatched: Koa.Middleware = (ctx) => {
  const [first, ...others]: Layer[] = ctx['matched'] ?? []
  if (!first) throw pathNotFound()
  const routes = [first, ...others.filter(({ path }) => path === first.path)]
  throw methodNotAllowed(ctx.method, routes.flatMap(({ methods }) => methods).join(', '))
}

/** TypeScript would have said so. */
const STALE = 'generate the types of the contract, and compile again'

function operationMiddleware(
  route: string,
  operation: Operation,
  handler: Handler,
): Koa.Middleware<Koa.DefaultState, OnServer> {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
  const readQuery = queryReader(operation)
  const readHeader = headerReader(operation)
  const readBody = operation.bodySchema && bodyReader(operation)
  const write = replyWriter(operation)
  return (ctx, next) => {
    if (ctx['matched'][0].path !== route) return next() // another path comes first, but without this method
    const request = ctx.req
    request.log.operation = operation.id
    if (operation.isProtected && !request.isIdentified) throw new Error(UNIDENTIFIED)
    // The captures are as the client sent them; `ctx.params` are percent-decoded.
    const path: Record<string, string> = {}
    for (const [i, name] of names.entries()) path[name] = ctx['captures'][i]
    const rawText = rawQuery(request.url ?? '')
    const query = readQuery(rawText)
    if (rawText) request.log.query = Object.keys(query).join() || undefined
    const respond = async (body?: unknown) => {
      const header = readHeader(request.headers)
      await write(ctx, await handler({ path, query, header, body }, request))
    }
    return readBody ? readBody(ctx, respond) : respond()
  }
}

const UNIDENTIFIED =
  'the contract protects this operation (`security`), and the guard let it pass without saying who calls'
