// The operations under /users, each by its operationId.
import { stringify } from 'node:querystring'
import { etagOf, ifMatch, ifNoneMatch, preconditionFailed } from './chassis/index.ts'
import { contract, type Handlers } from './contract.ts'
import { USER_NOT_FOUND } from './errors.ts'
import type { components } from './openapi.ts'
import { pagesOf } from './store/pages.ts'
import type { Condition, Filter, User, UserStore, WriteResult } from './store/user-store.ts'

type UserHandlers = Omit<Handlers, 'login'>

/** @param basePath what the links begin with */
export function users(store: UserStore, basePath: string): UserHandlers {
  return {
    async listUsers({ query: { email, limit, ...filter } }, client) {
      if (email !== undefined)
        return { status: 200, body: listOf(await store.findByEmail(email, client), filter) }
      if (limit === undefined) return { status: 200, body: pagesOf(store, filter, client) }
      const { users, next: after } = await store.list({ ...filter, limit }, client)
      if (after === undefined) return { status: 200, body: users }
      const query = stringify({ limit, ...filter, after })
      const Link = `<${basePath}${contract.pathOf('listUsers')}?${query}>; rel="next"`
      return { status: 200, headers: { Link }, body: users }
    },

    async createUser({ body }, client) {
      const user = await store.create(newUser(body), client)
      const Location = basePath + contract.pathOf('readUser', { id: user.id })
      return { status: 201, headers: { Location, ETag: etagOfUser(user) }, body: user }
    },

    async readUser({ path: { id }, header }, client) {
      const user = await store.find(id, client)
      if (!user) throw USER_NOT_FOUND
      const ETag = etagOfUser(user)
      // RFC 9110 §13.1.1: a client can also read on condition.
      if (!ifMatch(header['If-Match'] ?? '*', ETag)) throw preconditionFailed(header['If-Match'])
      if (ifNoneMatch(header['If-None-Match'], ETag)) return { status: 304, headers: { ETag } }
      return { status: 200, headers: { ETag }, body: user }
    },

    async renameUser({ path: { id }, header, body }, client) {
      return changed(await store.rename(id, body, conditionOf(header, body), client), header)
    },

    async deleteUser({ path: { id }, header }, client) {
      return changed(await store.remove(id, conditionOf(header), client), header)
    },
  }
}

/** The ETag of a user: of what bodies have, so that a field that the store does not have is not forgotten. */
const etagOfUser = (user: components['schemas']['User']): string => etagOf(user)

type Preconditions = Parameters<UserHandlers['renameUser']>[0]['header']

/**
 * The condition in the headers of a write, if there is one.
 *
 * @param changes the new values of a PUT. A retried PUT carries the old ETag, so a user who already has the new values is
 * accepted, too (RFC 9110 §13.1.1). The user is then written again: the values may not be durable yet
 */
function conditionOf(header: Preconditions, changes?: Partial<User>): Condition | undefined {
  const { 'If-Match': wanted = '*', 'If-None-Match': unwanted } = header
  if (wanted === '*' && unwanted === undefined) return undefined
  return (user) => {
    const etag = etagOfUser(user)
    const isDone = () => changes !== undefined && etagOfUser({ ...user, ...changes }) === etag
    return (ifMatch(wanted, etag) || isDone()) && !ifNoneMatch(unwanted, etag)
  }
}

/** The response to a write. @throws HttpError 404 or 412 */
function changed(result: WriteResult, header: Preconditions) {
  if (result === 'not found') throw USER_NOT_FOUND
  if (result === 'refused') throw preconditionFailed(header['If-Match'])
  return { status: 204 } as const
}

/** The list of a filter beside `email`: the user who has the email, if that user meets the filter. */
function listOf(user: User | undefined, { after = '', ...rest }: Filter): User[] {
  rest satisfies Record<string, never>
  return user && user.id > after ? [user] : []
}

/** The fields of a new user as text. A field that is missing is the empty text. */
export const newUser = ({ name, email }: components['schemas']['UserFields']): Omit<User, 'id'> => {
  return { name: text(name), email: text(email) }
}

/** By the contract, a POST validates no more than it must, so numbers, booleans, null and no value also become text. */
const text = (value?: string | number | boolean | null): string => String(value ?? '')
