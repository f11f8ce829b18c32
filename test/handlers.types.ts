// Handlers that compile, and those that must not. Checked by `npm run check`: a `@ts-expect-error` without
// an error is an error.
import type { Handlers as HandlersOf } from '../src/chassis/index.ts'
import type { components, operations } from '../src/openapi.ts'
import { newUser } from './support/users.ts'

type Handlers = HandlersOf<operations>
type Handler<Id extends keyof operations> = Handlers[Id]

const user = { id: '665f1c2e8b3f4a0012d4c001', ...newUser() }
const headers = { Location: '', ETag: '' }
const etag = { ETag: '"x"' }
async function* stream() {
  yield []
}

export const right = {
  listUsers: ({ query: { limit = 1, after = '' } }) =>
    limit.toFixed() + after.trim()
      ? { status: 200, body: stream() }
      : { status: 200, headers: { Link: '' }, body: [] },
  createUser: ({ body }) => ({ status: 201, headers, body: { ...user, name: body.name } }),
  readUser: async ({ path, header }) =>
    header['If-None-Match']?.trim()
      ? { status: 304, headers: etag }
      : { status: 200, headers: etag, body: { ...user, id: path.id } },
  renameUser: ({ path, body }) =>
    path.id + body.name ? { status: 204 } : { status: 404, body: { message: '' } },
  deleteUser: () => ({ status: 204 }),
  login: ({ body }) => ({ status: 200, body: { token: body.email } }),
} satisfies Handlers

const { deleteUser: _, ...incomplete } = right

// @ts-expect-error a missing operation
incomplete satisfies Handlers

// @ts-expect-error an undocumented status
;(() => ({ status: 202, body: user })) satisfies Handler<'readUser'>

// @ts-expect-error the response `default`, which only other programs send
;(() => ({ status: 'default', body: { message: '' } })) satisfies Handler<'readUser'>

// @ts-expect-error a missing header
;(() => ({ status: 201, body: user })) satisfies Handler<'createUser'>

// @ts-expect-error a missing body
;(() => ({ status: 200, headers: etag })) satisfies Handler<'readUser'>

// @ts-expect-error a body in a response without one
;(() => ({ status: 204, body: user })) satisfies Handler<'deleteUser'>

const { email: __, ...incompleteUser } = user

// @ts-expect-error a body without a field
;(() => ({ status: 200, headers: etag, body: incompleteUser })) satisfies Handler<'readUser'>

async function* numbers() {
  yield [7]
}

// @ts-expect-error a stream of other items
;(() => ({ status: 200, body: numbers() })) satisfies Handler<'listUsers'>

// @ts-expect-error a misspelt name of an optional header
;(() => ({ status: 200, headers: { link: '' }, body: [] })) satisfies Handler<'listUsers'>

// @ts-expect-error a parameter that the path does not have
;(({ path }) => ({ status: path.name ? 204 : 204 })) satisfies Handler<'deleteUser'>

// @ts-expect-error the request body of an operation without one
;(({ body }) => ({ status: body ? 204 : 204 })) satisfies Handler<'deleteUser'>

// @ts-expect-error a request with misspelt fields
;({ nmae: 'Ada', emial: 'ada@example.com' }) satisfies components['schemas']['UserFields']
