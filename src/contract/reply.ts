// Writes what a handler returns as the response. A list is streamed.
import { Readable } from 'node:stream'
import type Koa from 'koa'
import { contentOfText, JSON_TYPE } from '../http/json.ts'
import type { IncomingRequest } from '../http/request.ts'
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
  const type = (hasChoice && ctx.accepts(mediaTypes)) || mediaTypes[0] || 'application/json'
  const content = isAsyncIterable(body)
    ? await stream(body, type === LINES_TYPE ? writeLines : arrayWriter(), ctx)
    : contentOf(body, type)
  ctx.status = status
  ctx.set(headers)
  if (hasChoice) ctx.vary('Accept')
  if (content === undefined) return // assigning undefined to ctx.body would make it a 204
  if (type === 'application/json') ctx.set('Content-Type', JSON_TYPE)
  else ctx.type = type // with `charset=utf-8` if it is text
  ctx.body = content
}

function contentOf(body: unknown, type: string): string | Buffer | undefined {
  if (body === undefined) return undefined
  if (type === 'application/json') return contentOfText(JSON.stringify(body))
  if (type === LINES_TYPE) return contentOfText(writeLines(body as unknown[]))
  return Buffer.from(body as string | Uint8Array)
}

/** A list as a stream. Waits for the first page, so that a failure before it becomes a 500. */
async function stream(list: AsyncIterable<unknown[]>, write: ListWriter, ctx: Koa.Context) {
  const request = ctx.req as IncomingRequest
  async function* texts() {
    for await (const page of list) {
      request.lastProgress = performance.now() // the client has read the page before
      const text = Buffer.from(write(page))
      page.length = 0 // otherwise the generator keeps the items until the client has read the text
      yield text
    }
    yield Buffer.from(write())
  }
  const parts = texts()
  let first: IteratorResult<Buffer> | undefined = await parts.next()
  return new Readable({
    highWaterMark: 0, // reads no page before the client has read the one before
    read() {
      const part = first ? Promise.resolve(first) : parts.next()
      first = undefined
      part.then(
        ({ value }) => this.push((value as Buffer | undefined) ?? null),
        (error) => {
          ctx.onerror(error) // resets the connection, which Koa's pipeline would only close
          this.destroy(error)
        },
      )
    },
  })
}

const isAsyncIterable = (body: unknown): body is AsyncIterable<unknown[]> =>
  Symbol.asyncIterator in Object(body)
