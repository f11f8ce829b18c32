// The contract's paths as routes. No path, method or status is written here.
import { Router, type Layer } from '@koa/router'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import type Koa from 'koa'
import { JSON_TYPE, methodNotAllowed, noSuchPath } from '../http/failure.ts'
import { rawQuery } from '../http/target.ts'
import { bodyReader } from './body.ts'
import { contractOperations, type Operation } from './document.ts'
import type { Handlers } from './handlers.ts'
import { jsonArray, jsonLines, LINES_TYPE, linesOf } from './list-body.ts'
import { queryReader } from './query.ts'

type Handler = (input: Input) => Reply | Promise<Reply>

interface Input {
  path: Record<string, string>
  query: unknown
  header: Record<string, unknown>
  body: unknown
}

interface Reply {
  status: number
  headers?: Record<string, string>
  body?: unknown
}

/**
 * Routes every operation of the contract to its handler.
 *
 * @param bodyLimit the largest request body in bytes
 */
export function createRouter(handlers: Handlers, bodyLimit: number): Router {
  const router = new Router({ sensitive: true, strict: true })
  for (const operation of contractOperations) {
    const route = operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
    const serve = respond(operation, handlers, bodyLimit)
    router.register(route, [operation.method], serve, { name: operation.id }) // the span's, too
  }
  return router
}

/** The last stop: 405 when the path is one of the contract's, else 404. */
export const unmatched: Koa.Middleware = (ctx) => {
  const allowed = new Set(ctx['matched']?.flatMap((route: Layer) => route.methods))
  if (allowed.size === 0) throw noSuchPath()
  throw methodNotAllowed(ctx.method, [...allowed].join(', '))
}

function respond(operation: Operation, handlers: Handlers, bodyLimit: number): Koa.Middleware {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
  const readQuery = queryReader(operation)
  const headers = operation.parameters.flatMap((one) => (one.in === 'header' ? [one.name] : []))
  const readBody = operation.mediaTypes.length > 0 ? bodyReader(operation, bodyLimit) : undefined
  const handler = handlers[operation.id] as Handler
  return async (ctx) => {
    ctx.req.operation = operation.id // for the log and the metrics
    // The captures are as the client sent them; `ctx.params` are percent-decoded.
    const path = Object.fromEntries(names.map((name, i) => [name, ctx.captures[i]]))
    const query = readQuery?.(rawQuery(ctx.req.url ?? ''))
    const header = Object.fromEntries(
      headers.map((name) => [name, ctx.req.headers[name.toLowerCase()]]),
    )
    const body = await readBody?.(ctx)
    await send(ctx, await handler({ path, query, header, body }), operation.answers)
  }
}

/** @param mediaTypes those that the answer may have; lists may be lines */
async function send(
  ctx: Koa.Context,
  { status, headers = {}, body }: Reply,
  mediaTypes: string[],
): Promise<void> {
  const asLines = mediaTypes.includes(LINES_TYPE) && ctx.accepts(mediaTypes) === LINES_TYPE
  const content = await write(body, asLines, ctx)
  ctx.status = status
  ctx.set(headers)
  if (mediaTypes.length > 1) ctx.vary('Accept')
  if (content === undefined) return // an assignment would make it a 204
  ctx.set('Content-Type', asLines ? LINES_TYPE : JSON_TYPE)
  ctx.body = content
}

function write(
  body: unknown,
  asLines: boolean,
  ctx: Koa.Context,
): string | undefined | Promise<Readable> {
  if (isAsyncIterable(body)) return stream(asLines ? jsonLines(body) : jsonArray(body), ctx)
  return asLines ? linesOf(body as unknown[]) : JSON.stringify(body)
}

/** Waits for the first chunk, so that a failure until then is still a 500. */
async function stream(chunks: AsyncIterable<string>, { req, res }: Koa.Context): Promise<Readable> {
  const readable = Readable.from(chunks)
  res.once('close', () => readable.destroy()) // an answer that never got its turn, too
  await once(readable, 'readable')
  if (req.socket.destroyed) readable.destroy()
  return readable
}

function isAsyncIterable(body: unknown): body is AsyncIterable<unknown[]> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
