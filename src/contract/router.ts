// The contract's paths as routes. No path, method or status is written here.
import { Router, type Layer } from '@koa/router'
import type Koa from 'koa'
import type { Budget } from '../http/budget.ts'
import { methodNotAllowed, noSuchPath } from '../http/failure.ts'
import type { Request } from '../http/request.ts'
import { rawQuery } from '../http/target.ts'
import { contractOperations, type Operation } from './document.ts'
import type { Handlers } from './handlers.ts'
import { send, type Reply } from './reply.ts'

type Handler = (input: Input) => Reply | Promise<Reply>

interface Input {
  path: Record<string, string>
  query: unknown
  header: Record<string, unknown>
  body: unknown
}

/**
 * Routes every operation of the contract to its handler.
 *
 * @param bodyLimit the largest request body in bytes
 */
export function createRouter(handlers: Handlers, bodyLimit: number, memory: Budget): Router {
  const router = new Router({ sensitive: true, strict: true })
  for (const operation of byPrecedence) {
    const route = operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
    const serve = respond(operation, handlers, bodyLimit, memory)
    router.register(route, [operation.method], serve, { name: operation.id }) // traces use the name
  }
  return router
}

/** Paths without parameters come first (OpenAPI 3.1.1 §4.8.8.2). */
const byPrecedence = contractOperations.toSorted(
  (a, b) => Number(a.path.includes('{')) - Number(b.path.includes('{')),
)

/** The response when no route matches: 405 if the contract has the path, else 404. */
export const unmatched: Koa.Middleware = (ctx) => {
  const allowed = new Set(ctx['matched']?.flatMap((route: Layer) => route.methods))
  if (allowed.size === 0) throw noSuchPath()
  throw methodNotAllowed(ctx.method, [...allowed].join(', '))
}

function respond(
  operation: Operation,
  handlers: Handlers,
  bodyLimit: number,
  memory: Budget,
): Koa.Middleware {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
  const headers = operation.parameters.flatMap(({ in: place, name }) =>
    place === 'header' ? [[name, name.toLowerCase()] as const] : [],
  )
  const hasQuery = operation.parameters.some((one) => one.in === 'query')
  const hasBody = operation.mediaTypes.length > 0
  let queryReader: ReturnType<typeof importQueryReader> | undefined
  let bodyReader: ReturnType<typeof importBodyReader> | undefined
  const handler = handlers[operation.id] as Handler
  return async (ctx) => {
    const request = ctx.req as Request
    request.operation = operation.id
    // The captures are as the client sent them; `ctx.params` are percent-decoded.
    const path: Record<string, string> = {}
    for (const [i, name] of names.entries()) path[name] = ctx.captures[i]
    let query: unknown
    if (hasQuery) {
      const read = await (queryReader ??= importQueryReader(operation))
      query = read(rawQuery(request.url ?? ''))
    }
    const header: Record<string, unknown> = {}
    for (const [name, key] of headers) header[name] = request.headers[key]
    const serve = async (body?: unknown) => {
      const reply = await handler({ path, query, header, body })
      await send(ctx, reply, operation.responseTypes, memory)
    }
    if (!hasBody) return serve()
    const read = await (bodyReader ??= importBodyReader(operation, bodyLimit, memory))
    await read(ctx, serve)
  }
}

// service.ts loads query.ts and body.ts after it listens. A request that comes earlier loads them itself.

const importQueryReader = async (operation: Operation) =>
  (await import('./query.ts')).queryReader(operation)

const importBodyReader = async (...parts: [Operation, number, Budget]) =>
  (await import('./body.ts')).bodyReader(...parts)
