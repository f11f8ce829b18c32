// What must not compile. `npm run check` does: an error that is expected and missing is an error.
import type { Handler, Handlers } from '../../src/contract/handlers.ts'

const user = { id: '665f1c2e8b3f4a0012d4c001', name: 'Ada', email: 'ada@example.com' }
const headers = { Location: `/users/${user.id}` }
const etag = { ETag: '"x"' }
async function* stream() {
  yield []
}

export const right = {
  listUsers: ({ query: { limit = 1, after = '' } }) =>
    limit.toFixed() + after.trim()
      ? { status: 200, body: stream() }
      : { status: 200, headers: { Link: '' }, body: [] },
  createUser: ({ body }) => ({ status: 201, headers, body: { ...user, name: String(body.name) } }),
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

// @ts-expect-error a status of another operation
;(() => ({
  status: 201,
  headers: { ...headers, ...etag },
  body: user,
})) satisfies Handler<'readUser'>

// @ts-expect-error a missing header
;(() => ({ status: 201, body: user })) satisfies Handler<'createUser'>

// @ts-expect-error another header
;(() => ({ status: 201, headers: { location: '/' }, body: user })) satisfies Handler<'createUser'>

// @ts-expect-error a missing body
;(() => ({ status: 200, headers: etag })) satisfies Handler<'readUser'>

// @ts-expect-error a body where there is none
;(() => ({ status: 204, body: user })) satisfies Handler<'deleteUser'>

// @ts-expect-error a body without a field
;(() => ({ status: 200, headers: etag, body: { id: '', name: '' } })) satisfies Handler<'readUser'>

// @ts-expect-error a body with a field of another type
;(() => ({ status: 200, headers: etag, body: { ...user, name: 7 } })) satisfies Handler<'readUser'>

// @ts-expect-error a stream of something else
;(() => ({
  status: 200,
  body: (async function* () {
    yield [7]
  })(),
})) satisfies Handler<'listUsers'>

// @ts-expect-error a header that is misspelt, where it may be missing
;(() => ({ status: 200, headers: { link: '' }, body: [] })) satisfies Handler<'listUsers'>

// @ts-expect-error a parameter that the path does not have
;(({ path }) => ({ status: path.name ? 204 : 204 })) satisfies Handler<'deleteUser'>

// @ts-expect-error a parameter that the query does not have
;(({ query }) => ({ status: 200, body: query.page ? [] : [] })) satisfies Handler<'listUsers'>

// @ts-expect-error the text of a parameter that is a number
;(({ query: q }) => ({ status: 200, body: q.limit?.at ? [] : [] })) satisfies Handler<'listUsers'>

// @ts-expect-error a query of a request that has none
;(({ query }) => ({ status: query ? 204 : 204 })) satisfies Handler<'deleteUser'>

// @ts-expect-error a body of a request that has none
;(({ body }) => ({ status: body ? 204 : 204 })) satisfies Handler<'deleteUser'>

// @ts-expect-error a field that the request does not have
;(({ body }) => ({ status: 200, body: { token: body.password } })) satisfies Handler<'login'>
