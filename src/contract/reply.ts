// Writes what a handler returns as the response. A list is streamed.
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type Koa from 'koa'
import type { Budget } from '../http/budget.ts'
import { JSON_TYPE } from '../http/failure.ts'
import { LIMITS } from '../http/limits.ts'
import type { Request } from '../http/request.ts'
import { arrayWriter, LINES_TYPE, linesOf, type ListWriter } from './list-body.ts'

export interface Reply {
  status: number
  headers?: Record<string, string>
  body?: unknown
}

/**
 * @param mediaTypes those of the operation's 200, the default first
 * @param memory the budget that all bodies and lists share
 */
export async function send(
  ctx: Koa.Context,
  { status, headers = {}, body }: Reply,
  mediaTypes: string[],
  memory: Budget,
): Promise<void> {
  const hasChoice = mediaTypes.length > 1
  const [usual] = status === 200 ? mediaTypes : []
  const type = (hasChoice && accepted(ctx, mediaTypes)) || usual || 'application/json'
  const content = isAsyncIterable(body)
    ? await stream(body, type === LINES_TYPE ? linesOf : arrayWriter(), ctx, memory)
    : whole(contentOf(body, type), ctx, memory)
  ctx.status = status
  ctx.set(headers)
  if (hasChoice) ctx.vary('Accept')
  if (content === undefined) return // assigning undefined to ctx.body would make it a 204
  ctx.set('Content-Type', type === 'application/json' ? JSON_TYPE : type)
  ctx.body = content
}

function accepted(ctx: Koa.Context, mediaTypes: string[]): string | false {
  const isReadable = ctx.get('Accept').length <= LONGEST_ACCEPT
  return isReadable && ctx.accepts(mediaTypes)
}

/** In characters. The time to parse an `Accept` grows with the square of its length. */
const LONGEST_ACCEPT = 500

/** Counts a response in the memory budget until its request is over. A long text becomes bytes, outside V8's heap. */
export function whole(
  content: string | Buffer | undefined,
  { req }: Koa.Context,
  memory: Budget,
): string | Buffer | undefined {
  const isLong = typeof content === 'string' && content.length > LIMITS.smallPart
  const sent = isLong ? Buffer.from(content) : content
  memory.hold(req as Request, Buffer.byteLength(sent ?? ''))
  return sent
}

function contentOf(body: unknown, type: string): string | Buffer | undefined {
  if (body === undefined) return undefined
  if (type === 'application/json') return JSON.stringify(body)
  return type === LINES_TYPE ? linesOf(body as unknown[]) : (body as string | Buffer)
}

/**
 * A list as a stream. Waits for the first part, so that a failure before it becomes a 500. A later failure resets the
 * connection, so that no client mistakes a part of the list for the whole list.
 */
async function stream(
  list: AsyncIterable<unknown[]>,
  write: ListWriter,
  ctx: Koa.Context,
  memory: Budget,
): Promise<Readable> {
  const { res } = ctx
  const request = ctx.req as Request
  const parts = list[Symbol.asyncIterator]()
  let isAtEnd = false

  /** Resolves to the text of the next part when the client has read the last one, and when there is room. */
  async function next(): Promise<string> {
    if (res.writableNeedDrain) await until(res, (done) => res.once('drain', done))
    request.via?.noteProgress()
    memory.hold(request, 0)
    await until(res, (done) => memory.next(request, LARGE_PART, done))
    if (res.destroyed) return ''
    const { value: items } = (await parts.next()) as { value?: unknown[] }
    const text = write(items)
    if (!items) isAtEnd = true
    else items.length = 0 // a generator would keep them until the next part
    memory.hold(request, COPIES * Buffer.byteLength(text) + res.writableLength)
    return text
  }

  let first: string | undefined
  const readable = new Readable({
    async read() {
      try {
        const text = first ?? (await next())
        first = undefined
        this.push(text)
        if (isAtEnd) this.push(null)
      } catch (error) {
        ctx.onerror(error as Error) // the log must have the cause before the reset
        request.giveUp()
      }
    },
    destroy(error, done) {
      void parts.return?.()
      done(error)
    },
  })
  res.once('close', () => readable.destroy())
  first = await next()
  return readable
}

/** Resolves when `listen` calls `done`, or when the client has left. */
function until(res: ServerResponse, listen: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    if (res.destroyed) return resolve()
    const done = () => {
      res.off('close', done)
      resolve()
    }
    res.once('close', done)
    listen(done)
  })
}

/** A part is in memory as users, as text and in the socket. */
const COPIES = 3

/** What a part may take until its size is known: one with a user of 1 MB. */
const LARGE_PART = COPIES * 1024 * 1024

function isAsyncIterable(body: unknown): body is AsyncIterable<unknown[]> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
