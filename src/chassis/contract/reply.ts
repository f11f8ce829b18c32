// Writes what a handler returns as the response. A list is streamed.
import type { ServerResponse } from 'node:http'
import type Koa from 'koa'
import { contentOfText, JSON_TYPE } from '../http/json.ts'
import type { IncomingRequest } from '../http/request.ts'
import type { OutgoingResponse } from '../http/response.ts'
import { arrayWriter, LINES_TYPE, writeLines, type ListWriter } from './list-body.ts'

export interface Reply {
  status: number
  headers?: Record<string, string>
  body?: unknown
}

/** @param mediaTypes those that the operation documents for this status, the default first */
export async function send(
  ctx: Koa.Context,
  { status, headers = {}, body }: Reply,
  mediaTypes: string[],
): Promise<void> {
  const hasChoice = mediaTypes.length > 1
  // A charset would have to be the same in the contract, and all that is sent is UTF-8.
  const { headers: sent } = ctx.req
  if (hasChoice) sent.accept &&= sent.accept.replaceAll(/;[ \t]*charset=[^,;]*/gi, '')
  const type = (hasChoice && ctx.accepts(mediaTypes)) || mediaTypes[0] || 'application/json'
  const begin = () => {
    ctx.status = status
    ctx.set(headers)
    if (hasChoice) ctx.vary('Accept')
    if (body === undefined) return // with a type, Koa would send a body
    ctx.type = type // with `charset=utf-8` if it is text
    if (type === 'application/json') ctx.set('Content-Type', JSON_TYPE)
    if (type === LINES_TYPE) ctx.set('Content-Type', `${LINES_TYPE}; charset=utf-8`)
  }
  if (isAsyncIterable(body))
    return stream(partsOf(body, type, ctx.req as IncomingRequest), ctx, begin)
  begin()
  if (body !== undefined) ctx.body = contentOf(body, type) // undefined would make it a 204
}

function contentOf(body: unknown, type: string): string | Buffer {
  if (type === 'application/json') return contentOfText(JSON.stringify(body))
  if (type === LINES_TYPE) return contentOfText(writeLines(body as unknown[]))
  return Buffer.from(body as string | Uint8Array)
}

/** A list as bytes: each page, and the end. */
async function* partsOf(list: AsyncIterable<unknown[]>, type: string, request: IncomingRequest) {
  const write: ListWriter = type === LINES_TYPE ? writeLines : arrayWriter()
  for await (const page of list) {
    request.lastProgress = performance.now() // the client has read the page before
    const bytes = Buffer.from(write(page))
    page.length = 0 // otherwise the generator keeps the items until the client has read the bytes
    yield bytes
  }
  yield Buffer.from(write())
}

/**
 * Sends each part when the client has read the one before, and keeps none of them. Resolves at the end, also when the
 * client has left.
 *
 * @param begin sets the status and the headers, after the first part: a failure before it becomes a 500
 */
async function stream(parts: AsyncIterator<Buffer>, ctx: Koa.Context, begin: () => void) {
  const { res } = ctx
  let part = await parts.next()
  begin()
  ctx.respond = false // Koa would not wait for the end, and the connection would lose its place too early
  if (ctx.method === 'HEAD') return void res.end()
  for (; !part.done; part = await parts.next()) {
    if (res.destroyed || (res as OutgoingResponse).isEnded) return
    if (!res.write(part.value)) await drained(res)
  }
  res.end()
}

/** Resolves when the client has read what was written, or has left. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })

const isAsyncIterable = (body: unknown): body is AsyncIterable<unknown[]> =>
  Symbol.asyncIterator in Object(body)
