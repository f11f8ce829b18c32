// What must not compile. `npm run check` does: an error that is expected and missing is an error.
import type { Handler, Handlers, JsonText, User } from '../src/contract/handlers.ts'

const user = { id: '665f1c2e8b3f4a0012d4c001', name: 'Ada', email: 'ada@example.com' }
const headers = { Location: `/users/${user.id}` }
async function* stream() {
  yield '[]' as JsonText<User[]>
}

export const right = {
  listUsers: () => ({ status: 200, body: stream() }),
  createUser: ({ body }) => ({ status: 201, headers, body: { ...user, name: String(body.name) } }),
  readUser: async ({ path }) => ({ status: 200, body: { ...user, id: path.id } }),
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
;(() => ({ status: 201, headers, body: user })) satisfies Handler<'readUser'>

// @ts-expect-error a missing header
;(() => ({ status: 201, body: user })) satisfies Handler<'createUser'>

// @ts-expect-error another header
;(() => ({ status: 201, headers: { location: '/' }, body: user })) satisfies Handler<'createUser'>

// @ts-expect-error a missing body
;(() => ({ status: 200 })) satisfies Handler<'readUser'>

// @ts-expect-error a body where there is none
;(() => ({ status: 204, body: user })) satisfies Handler<'deleteUser'>

// @ts-expect-error a body without a field
;(() => ({ status: 200, body: { id: '', name: '' } })) satisfies Handler<'readUser'>

// @ts-expect-error a body with a field of another type
;(() => ({ status: 200, body: { ...user, name: 7 } })) satisfies Handler<'readUser'>

// @ts-expect-error a stream of something else
;(() => ({
  status: 200,
  body: (async function* () {
    yield '[7]' as JsonText<number[]>
  })(),
})) satisfies Handler<'listUsers'>

// @ts-expect-error a parameter that the path does not have
;(({ path }) => ({ status: 200, body: { ...user, id: path.name } })) satisfies Handler<'readUser'>

// @ts-expect-error a body of a request that has none
;(({ body }) => ({ status: 200, body })) satisfies Handler<'readUser'>

// @ts-expect-error a field that the request does not have
;(({ body }) => ({ status: 200, body: { token: body.password } })) satisfies Handler<'login'>
