// Handlers that compile, and those that must not. Checked by `npm run check`: a `@ts-expect-error` without
// an error is an error.
import type {
  Client,
  Guard,
  Handlers as HandlersOf,
  Service,
  Store,
} from '../../../src/chassis/index.ts'
import type { Note } from '../support/notes.ts'

/** Operations as openapi-typescript writes them. */
interface operations {
  listNotes: {
    parameters: {
      query: { text: string; tag?: string[]; limit?: number }
      header: { 'X-Key': string }
      path?: never
    }
    responses: { 200: Json<Note[], { Link?: string }>; default: Failure }
  }
  addNote: {
    parameters: { query?: never; header?: never; path?: never }
    requestBody: { content: { 'application/json': { text: string } } }
    responses: { 201: Json<Note, { 'Cache-Control': string; Location: string }>; default: Failure }
  }
  readNote: {
    parameters: { query?: never; header?: { 'If-None-Match'?: string }; path: { id: string } }
    responses: { 200: Json<Note, { ETag: string }>; 304: Empty<{ ETag: string }>; 404: Failure }
  }
  removeNote: {
    parameters: { query?: never; header?: never; path: { id: string } }
    requestBody?: never
    responses: { 204: Empty<unknown>; default: Failure }
  }
}

type Empty<Headers> = { headers: Headers & { [name: string]: unknown }; content?: never }
type Json<Body, Headers> = Omit<Empty<Headers>, 'content'> & {
  content: { 'application/json': Body }
}
type Failure = Json<{ message: string }, unknown>

type Handlers = HandlersOf<operations>
type Handler<Id extends keyof operations> = Handlers[Id]

const note: Note = { text: 'Milk', tag: '' }
const headers = { Location: '' }
const etag = { ETag: '"x"' }
async function* stream() {
  yield []
}

export const right = {
  listNotes: ({ query: { text, tag = [], limit = 1 }, header }) =>
    limit.toFixed() + [text.trim(), ...tag].join() === header['X-Key'].trim()
      ? { status: 200, body: stream() }
      : { status: 200, headers: { Link: '' }, body: [] },
  addNote: ({ body }) => ({ status: 201, headers, body: { ...note, text: body.text } }),
  readNote: async ({ path, header }) =>
    header['If-None-Match']?.trim()
      ? { status: 304, headers: etag }
      : { status: 200, headers: etag, body: { ...note, tag: path.id } },
  removeNote: ({ path }) => (path.id ? { status: 204 } : { status: 204 }),
} satisfies Handlers

const { removeNote: _, ...incomplete } = right

// @ts-expect-error a missing operation
incomplete satisfies Handlers

// @ts-expect-error an undocumented status
;(() => ({ status: 202, body: note })) satisfies Handler<'readNote'>

// @ts-expect-error the response `default`, which only other programs send
;(() => ({ status: 'default', body: { message: '' } })) satisfies Handler<'listNotes'>

// @ts-expect-error a missing header
;(() => ({ status: 201, body: note })) satisfies Handler<'addNote'>

// @ts-expect-error a missing body
;(() => ({ status: 200, headers: etag })) satisfies Handler<'readNote'>

// @ts-expect-error a body in a response without one
;(() => ({ status: 204, body: note })) satisfies Handler<'removeNote'>

const { tag: __, ...incompleteNote } = note

// @ts-expect-error a body without a field
;(() => ({ status: 200, headers: etag, body: incompleteNote })) satisfies Handler<'readNote'>

async function* numbers() {
  yield [7]
}

// @ts-expect-error a stream of other items
;(() => ({ status: 200, body: numbers() })) satisfies Handler<'listNotes'>

// @ts-expect-error a misspelt name of an optional header
;(() => ({ status: 200, headers: { link: '' }, body: [] })) satisfies Handler<'listNotes'>

// @ts-expect-error a parameter that the path does not have
;(({ path }) => ({ status: path.name ? 204 : 204 })) satisfies Handler<'removeNote'>

// @ts-expect-error a list in a query may be absent
;(({ query }) => ({ status: 200, body: query.tag.map(() => note) })) satisfies Handler<'listNotes'>

// @ts-expect-error the request body of an operation without one
;(({ body }) => ({ status: body ? 204 : 204 })) satisfies Handler<'removeNote'>

;(async (ctx, next) => {
  ctx.set('Vary', ctx.get('X-Key') + ctx.method + ctx.ip)
  await next()
}) satisfies Guard
;((_, next) => next()) satisfies Guard
;((_, next) => void next()) satisfies Guard

declare const header: string
export const settingHeaders: Guard = (ctx, next) => {
  ctx.set(header, ['x', 'y'])
  // @ts-expect-error Node sets it
  ctx.set('Content-Length', '1')
  // @ts-expect-error Node sets it
  ctx.set('transfer-encoding', 'chunked')
  // @ts-expect-error Node sets it
  ctx.set('Connection', 'close')
  return next()
}

// @ts-expect-error a guard that sets a body
;((ctx, next) => ((ctx.body = ''), next())) satisfies Guard

// @ts-expect-error a guard that sets a status
;((ctx, next) => ((ctx.status = 200), next())) satisfies Guard

// @ts-expect-error a guard that rewrites the path
;((ctx, next) => ((ctx.path = '/'), next())) satisfies Guard

// @ts-expect-error a guard that returns whether the request may pass
;((ctx) => ctx.path === '/') satisfies Guard

interface Caller {
  name: string
}
declare const handlersOfCallers: HandlersOf<operations, Caller>
declare const saysMore: Guard<Caller & { isAdmin: boolean }>
declare const saysLess: Guard<{ id: string }>
declare const store: Store

/** A guard says at least what the handlers need to know of a caller. */
type Open = Service<operations, Record<string, never>, Caller>['open']
;(async () => ({ guard: saysMore, handlers: handlersOfCallers, store })) satisfies Open
const says = async () => ({ guard: saysLess, handlers: handlersOfCallers, store })
// @ts-expect-error what the handlers need is missing
says satisfies Open

/** A guard that takes nobody for a caller. */
export const identifiesNobody: Guard<Caller | null | undefined> = (ctx, next) => {
  // @ts-expect-error null is nobody
  ctx.req.identify(null)
  // @ts-expect-error undefined is nobody
  ctx.req.identify(undefined)
  return next()
}

type Written =
  | ('level' | 'time' | 'msg' | 'err' | 'id' | 'trace_id' | 'remoteAddress' | 'method' | 'path')
  | ('operation' | 'location' | 'status' | 'code' | 'cause' | 'ms')
export const own: Client['log'] = { refused: '', note: '' }
// @ts-expect-error each of these the chassis writes into a line itself
export const written: Client['log'][Written] = ''

declare const counted: Store & { count: () => number; limit: number }
export const measuring: Open = async (_config, { measure }) => {
  measure(counted, ['oldest', 'close'])
  // @ts-expect-error it returns no promise, and would return one
  measure(counted, ['count'])
  // @ts-expect-error it is no method
  measure(counted, ['limit'])
  return { guard: saysMore, handlers: handlersOfCallers, store }
}
