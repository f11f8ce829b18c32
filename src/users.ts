// The operations under /users, each by its operationId.
import { pathOf } from './contract/contract.ts'
import type { Handlers } from './contract/handlers.ts'
import type { components } from './contract/openapi.ts'
import { userNotFound, preconditionFailed } from './errors.ts'
import { etagOf, ifMatch, ifNoneMatch, isMalformed } from './preconditions.ts'
import { pagesOf } from './store/pages.ts'
import type { User, UserStore } from './store/user-store.ts'

type UserHandlers = Omit<Handlers, 'login'>

/** @param basePath what the links begin with */
export function users(store: UserStore, basePath: string): UserHandlers {
  /**
   * Changes a user if the conditions of the request hold.
   *
   * @param write changes the user; with `ifName`, only while the user has that name. The name is enough,
   * because the other fields of a user never change.
   * @param newName the name that the user gets. If the user has it, a request before this one may have done the
   * change: then it is done, although `If-Match` does not match any more (RFC 9110 §13.1.1).
   */
  async function change(
    id: string,
    conditions: Conditions,
    write: (ifName?: string) => Promise<boolean>,
    newName?: string,
  ): Promise<void> {
    const { 'If-Match': wanted = '*', 'If-None-Match': unwanted } = conditions
    if (wanted === '*' && unwanted === undefined) {
      if (await write()) return
      throw userNotFound()
    }
    for (let tries = 0; tries < TRIES; tries += 1) {
      const user = await store.find(id)
      if (!user) throw userNotFound()
      const etag = etagOf(user)
      const isRefused = [wanted, unwanted ?? '*'].some(isMalformed) || ifNoneMatch(unwanted, etag)
      if (isRefused) throw preconditionFailed(wanted, unwanted)
      if (user.name === newName) return
      if (!ifMatch(wanted, etag)) throw preconditionFailed(wanted)
      if (await write(user.name)) return
    }
    throw preconditionFailed()
  }

  return {
    async listUsers({ query: { email, after, limit } }, hasClientLeft) {
      if (email !== undefined)
        return { status: 200, body: listOf(await store.findByEmail(email), after) }
      if (limit === undefined)
        return { status: 200, body: pagesOf(store, { after, hasClientLeft }) }
      const ids = await store.ids(after, limit + 1)
      const page = ids.slice(0, limit)
      const body = pagesOf(store, { ids: page, hasClientLeft })
      if (ids.length <= limit) return { status: 200, body }
      const query = new URLSearchParams({ limit: `${limit}`, after: page.at(-1)! })
      const Link = `<${basePath}${pathOf('listUsers')}?${query.toString()}>; rel="next"`
      return { status: 200, headers: { Link }, body }
    },

    async createUser({ body }) {
      const user = await store.create(newUser(body))
      const Location = basePath + pathOf('readUser', { id: user.id })
      return { status: 201, headers: { Location, ETag: etagOf(user) }, body: user }
    },

    async readUser({ path: { id }, header }) {
      const user = await store.find(id)
      if (!user) throw userNotFound()
      const ETag = etagOf(user)
      if (!ifMatch(header['If-Match'] ?? '*', ETag)) throw preconditionFailed(header['If-Match'])
      if (ifNoneMatch(header['If-None-Match'], ETag)) return { status: 304, headers: { ETag } }
      return { status: 200, headers: { ETag }, body: user }
    },

    async renameUser({ path: { id }, header, body: { name } }) {
      await change(id, header, (ifName) => store.rename(id, name, ifName), name)
      return { status: 204 }
    },

    async deleteUser({ path: { id }, header }) {
      await change(id, header, (ifName) => store.remove(id, ifName))
      return { status: 204 }
    },
  }
}

type Conditions = Parameters<UserHandlers['renameUser']>[0]['header']

/** How often a conditional write is tried: another client may change the user between the check and the write. */
const TRIES = 10

/** A list of the user, if there is one whose id comes after `after`. */
const listOf = (user: User | undefined, after = ''): User[] =>
  user && user.id > after ? [user] : []

/** The fields of a new user as text. A field that is missing is the empty text. */
export const newUser = ({ name, email }: components['schemas']['UserFields']): Omit<User, 'id'> => {
  return { name: text(name), email: text(email) }
}

/** Numbers, booleans, null and no value are accepted too: `x-also-accepts` in the contract. */
const text = (value?: string | number | boolean | null): string => String(value ?? '')
