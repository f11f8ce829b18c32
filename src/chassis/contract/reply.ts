// Writes what a handler returns as the response. A list is streamed.
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Context } from '../http/context.ts'
import { contentOfText } from '../http/json.ts'
import type { IncomingRequest } from '../http/request.ts'
import { arrayWriter, checkItems, LINES_TYPE, writeLines, type ListWriter } from './list-body.ts'
import type { Operation } from './operation.ts'

export interface Reply {
  status: number
  headers?: Record<string, string | undefined>
  body?: unknown
}

/** A function that writes what the handler of `operation` returns, in one of the media types of its responses. */
export function replyWriter({ id, responses }: Operation) {
  const types = new Map(Object.entries(responses).map(([status, of]) => [Number(status), of]))
  /** The media types of `reply`. @throws Error the contract does not have it: TypeScript would have said so */
  function typesOf(reply: Partial<Reply> | undefined): string[] {
    const documented = types.get(reply?.status ?? 0)
    const hasBody = reply?.body !== undefined
    if (documented && hasBody === documented.length > 0) return documented
    const status = reply ? `the status ${String(reply.status)}` : 'nothing'
    const body = documented ? ` ${hasBody ? 'with' : 'without'} a body` : ''
    throw new Error(`${id} has returned ${status}${body}, which the contract does not have`)
  }

  return (ctx: Context, reply: Reply): Promise<void> | void => {
    const documented = typesOf(reply)
    const { status, headers, body } = reply
    const hasChoice = documented.length > 1
    const type = (hasChoice ? preferred(ctx, documented) : documented[0]) ?? 'application/json'
    const begin = () => {
      const { res } = ctx
      if (res.headersSent) return // the request was refused meanwhile
      if (ctx.body !== undefined) throw new Error(`a middleware before ${id} has set a body`)
      if (body === undefined && !NO_BODY.has(status)) ctx.body = null // Koa would send the text of the status
      ctx.status = status
      for (const name in headers)
        // Koa's `set` takes longer, and would send an undefined one as a text
        if (headers[name] !== undefined) res.setHeader(name, headers[name])
      if (hasChoice) ctx.vary('Accept')
      if (body !== undefined) res.setHeader('Content-Type', contentType(type))
    }
    if (isAsyncIterable(body)) return streamAll(partsOf(body, type, ctx.req), ctx, begin)
    const content = body === undefined ? undefined : contentOf(body, type)
    begin()
    if (content !== undefined) ctx.body = content // undefined would make it a 204
  }
}

/** The first of `types` that the client accepts, whatever its charset: all that is sent is UTF-8. */
function preferred(ctx: Context, types: string[]): string | undefined {
  const { headers } = ctx.req
  const { accept } = headers
  if (accept === undefined || accept === '*/*') return types[0]
  headers.accept = accept.replaceAll(/;[ \t]*charset=[^,;]*/gi, '')
  const [type] = [ctx.accepts(types)].flat()
  headers.accept = accept
  return type || undefined
}

/** Not `ctx.type`, which takes longer: JSON has no charset for Koa, and lines of JSON are not known to it. */
const contentType = (type: string): string => (IS_TEXT.test(type) ? `${type}; charset=utf-8` : type)

/** Statuses that have no body anyway. */
const NO_BODY = new Set([204, 304])

const IS_TEXT = /^(application\/(json|x-ndjson)$|text\/)/

function contentOf(body: unknown, type: string): string | Buffer {
  if (type === LINES_TYPE) return contentOfText(writeLines(body as unknown[]))
  if (type !== 'application/json') return Buffer.from(body as string | Uint8Array)
  if (Array.isArray(body)) checkItems(body)
  const text = JSON.stringify(body) as string | undefined
  if (text === undefined) throw new TypeError(`a ${typeof body} cannot be written as JSON`)
  return contentOfText(text)
}

/** A list as bytes: each page, and the end. */
async function* partsOf(list: AsyncIterable<unknown[]>, type: string, request: IncomingRequest) {
  const write: ListWriter = type === LINES_TYPE ? writeLines : arrayWriter()
  const pages = list[Symbol.asyncIterator]()
  // In a variable of this generator, the page would stay in memory until the client has read its bytes.
  const state = { isOver: false }
  const next = async () => {
    state.isOver = true // also if it throws
    const { value, done = false } = await pages.next()
    state.isOver = done
    if (done && value !== undefined) throw new TypeError(RETURNED)
    if (!done && !Array.isArray(value)) throw new TypeError('a page of a list must be an array')
    if (value?.length === 0) await nextTurn() // a list without end would stop all else
    request.lastProgress = performance.now() // the client has read the page before
    return done ? undefined : Buffer.from(write(value))
  }
  try {
    for (let bytes = await next(); bytes; bytes = await next()) yield bytes
    yield Buffer.from(write())
  } finally {
    if (!state.isOver) await pages.return?.() // runs what its author wrote as `finally`
  }
}

const RETURNED = 'a list has returned its last page: it must yield it'

/** Also ends the list, whatever ends the response. */
async function streamAll(parts: AsyncGenerator<Buffer>, ctx: Context, begin: () => void) {
  try {
    await stream(parts, ctx, begin)
  } finally {
    await parts.return(undefined)
  }
}

/**
 * Sends each part when the client has read the one before, and keeps none of them. Resolves at the end, also when the
 * client has left.
 *
 * @param begin sets the status and the headers, after the first part: a failure before it becomes a 500
 */
async function stream(parts: AsyncIterator<Buffer>, ctx: Context, begin: () => void) {
  const { res } = ctx
  let part = await parts.next()
  begin()
  ctx.respond = false // Koa would not wait for the end, and the connection would lose its place too early
  if (ctx.method === 'HEAD') return void res.end()
  for (; !part.done; part = await parts.next()) {
    if (res.destroyed || res.isEnded) return
    res.bodyBytes += part.value.length
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
