// Writes what a handler returns as the response. A list is streamed.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type Koa from 'koa'
import type { Budget } from '../http/budget.ts'
import { JSON_TYPE } from '../http/failure.ts'
import { jsonArray, jsonLines, LINES_TYPE, linesOf } from './list-body.ts'

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
  const type = (hasChoice && ctx.accepts(mediaTypes)) || usual || 'application/json'
  const content = isAsyncIterable(body)
    ? await stream(type === LINES_TYPE ? jsonLines(body) : jsonArray(body), ctx, memory)
    : textOf(body, type)
  ctx.status = status
  ctx.set(headers)
  if (hasChoice) ctx.vary('Accept')
  if (typeof content === 'string') holdUntilRead(ctx, content, memory)
  if (content === undefined) return // assigning undefined to ctx.body would make it a 204
  ctx.set('Content-Type', type === 'application/json' ? JSON_TYPE : type)
  ctx.body = content
}

/** Counts a response in the memory budget until the client has read it. */
export function holdUntilRead(ctx: Koa.Context, content: string, memory: Budget): void {
  const holder = holderOf(ctx)
  if (memory.hold(holder, Buffer.byteLength(content)))
    ctx.res.once('close', () => memory.release(holder))
}

/** A response in the memory budget. When others need its share, the connection is reset. */
const holderOf = ({ req }: Koa.Context) => ({ giveUp: () => void req.socket.resetAndDestroy() })

function textOf(body: unknown, type: string): string | Buffer | undefined {
  if (body === undefined) return undefined
  if (type === 'application/json') return JSON.stringify(body)
  return type === LINES_TYPE ? linesOf(body as unknown[]) : (body as string | Buffer)
}

/**
 * The chunks of a list as a stream. Waits for the first chunk, so that a failure before it becomes a 500. A
 * later failure resets the connection, so that no client mistakes a part of the list for the whole list.
 */
async function stream(
  chunks: AsyncGenerator<string>,
  ctx: Koa.Context,
  memory: Budget,
): Promise<Readable> {
  const { res } = ctx
  const holder = holderOf(ctx)

  async function* counted(): AsyncGenerator<string> {
    let hasBegun = false
    let size = FIRST_PART
    try {
      for (;;) {
        await until(res, (done) => memory.next(holder, size, done))
        if (res.destroyed) return
        const { value: chunk, done } = await chunks.next()
        if (done || res.destroyed) return
        size = COPIES * chunk.length
        memory.hold(holder, size + res.writableLength)
        yield chunk
        hasBegun = true
        // A client that does not read holds one part only.
        if (res.writableNeedDrain) await until(res, (done) => res.once('drain', done))
      }
    } catch (error) {
      if (hasBegun) {
        ctx.onerror(error as Error) // the log must have the cause before the reset
        holder.giveUp()
      }
      throw error
    } finally {
      await chunks.return(undefined)
    }
  }

  const readable = Readable.from(counted())
  res.once('close', () => {
    memory.release(holder)
    readable.destroy() // also when the connection closed before the first chunk
  })
  await once(readable, 'readable')
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

/** The bytes that the first part may take, before its size is known: a page with a user of 1 MB. */
const FIRST_PART = COPIES * 1024 * 1024

function isAsyncIterable(body: unknown): body is AsyncIterable<unknown[]> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
