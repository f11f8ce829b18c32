// Handlers that compile, and those that must not. Checked by `npm run check`: a `@ts-expect-error` without
// an error is an error.
import type { Handlers as HandlersOf } from '../../../src/chassis/index.ts'
import type { Note } from '../support/notes.ts'

/** Operations as openapi-typescript writes them. */
interface operations {
  listNotes: {
    parameters: Parameters<{ limit?: number; after?: string }>
    requestBody?: never
    responses: { 200: Response<{ Link?: string }, Note[]>; default: Failure }
  }
  addNote: {
    parameters: Parameters
    requestBody: { content: { 'application/json': { text: string } } }
    responses: {
      201: Response<{ 'Cache-Control': string; Location: string }, Note>
      default: Failure
    }
  }
  readNote: {
    parameters: Parameters<never, { 'If-None-Match'?: string }, { id: string }>
    requestBody?: never
    responses: {
      200: Response<{ ETag: string }, Note>
      304: { headers: { ETag: string; [name: string]: unknown }; content?: never }
      404: Failure
    }
  }
  removeNote: {
    parameters: Parameters<never, never, { id: string }>
    requestBody?: never
    responses: { 204: { headers: { [name: string]: unknown }; content?: never }; default: Failure }
  }
}

interface Parameters<Query = never, Header = never, Path = never> {
  query?: Query
  header?: Header
  path: Path
  cookie?: never
}
interface Response<Headers, Body> {
  headers: Headers & { [name: string]: unknown }
  content: { 'application/json': Body }
}
type Failure = Response<unknown, { message: string }>

type Handlers = HandlersOf<operations>
type Handler<Id extends keyof operations> = Handlers[Id]

const note: Note = { text: 'Milk', tag: '' }
const headers = { Location: '' }
const etag = { ETag: '"x"' }
async function* stream() {
  yield []
}

export const right = {
  listNotes: ({ query: { limit = 1, after = '' } }) =>
    limit.toFixed() + after.trim()
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

// @ts-expect-error the request body of an operation without one
;(({ body }) => ({ status: body ? 204 : 204 })) satisfies Handler<'removeNote'>
