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
  chunks: AsyncIterable<string>,
  ctx: Koa.Context,
  memory: Budget,
): Promise<Readable> {
  const { res } = ctx
  const holder = holderOf(ctx)

  async function* counted(): AsyncGenerator<string> {
    let hasBegun = false
    try {
      for await (const chunk of chunks) {
        memory.hold(holder, COPIES * chunk.length + res.writableLength)
        yield chunk
        hasBegun = true
        if (res.writableNeedDrain) await drained(res) // a client that does not read holds one page only
      }
    } catch (error) {
      if (hasBegun) {
        ctx.onerror(error as Error) // the log must have the cause before the reset
        holder.giveUp()
      }
      throw error
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

/** Resolves when the client has read enough, or has left. */
function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done)
      resolve()
    }
    res.on('drain', done).on('close', done)
  })
}

/** A chunk is in memory as users, as text and in the socket. */
const COPIES = 3

function isAsyncIterable(body: unknown): body is AsyncIterable<unknown[]> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
