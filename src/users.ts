// The operations under /users, each by its operationId.
import { pathOf } from './contract/document.ts'
import type { Handlers } from './contract/handlers.ts'
import type { components } from './contract/openapi.ts'
import { noSuchUser, preconditionFailed } from './errors.ts'
import { etagOf, ifMatch, ifNoneMatch } from './http/preconditions.ts'
import type { User, UserStore } from './store/user-store.ts'

type UserHandlers = Pick<
  Handlers,
  'listUsers' | 'createUser' | 'readUser' | 'renameUser' | 'deleteUser'
>

export function users(store: UserStore): UserHandlers {
  /**
   * Has `write` change the user, if that is as the conditions ask. It is told the name that the user must
   * still have: what else an ETag stands for never changes.
   */
  async function change(
    id: string,
    { 'If-Match': wanted = '*', 'If-None-Match': unwanted }: Conditions,
    write: (ifName?: string) => Promise<boolean>,
  ): Promise<void> {
    if (wanted === '*' && unwanted === undefined) {
      if (await write()) return
      throw noSuchUser()
    }
    for (let tries = 0; tries < TRIES; tries += 1) {
      const user = await store.find(id)
      if (!user) throw noSuchUser()
      const etag = etagOf(user)
      if (!ifMatch(wanted, etag)) throw preconditionFailed()
      if (unwanted !== undefined && ifNoneMatch(unwanted, etag)) throw preconditionFailed()
      if (await write(user.name)) return
    }
    throw preconditionFailed()
  }

  return {
    async listUsers({ query: { email, after, limit } }) {
      if (email !== undefined)
        return { status: 200, body: among(await store.findByEmail(email), after) }
      if (limit === undefined) return { status: 200, body: store.list({ after }) }
      const ids = await store.ids(after, limit + 1)
      const page = ids.slice(0, limit)
      const body = store.list({ ids: page })
      if (ids.length <= limit) return { status: 200, body }
      const query = new URLSearchParams({ limit: `${limit}`, after: page.at(-1)! })
      const Link = `<${pathOf('listUsers')}?${query.toString()}>; rel="next"`
      return { status: 200, headers: { Link }, body }
    },

    async createUser({ body }) {
      const user = await store.create(newUser(body))
      return { status: 201, headers: { Location: pathOf('readUser', { id: user.id }) }, body: user }
    },

    async readUser({ path: { id }, header: { 'If-None-Match': condition } }) {
      const user = await store.find(id)
      if (!user) throw noSuchUser()
      const headers = { ETag: etagOf(user) }
      const known = condition !== undefined && ifNoneMatch(condition, headers.ETag)
      return known ? { status: 304, headers } : { status: 200, headers, body: user }
    },

    async renameUser({ path: { id }, header, body: { name } }) {
      await change(id, header, (ifName) => store.rename(id, name, ifName))
      return { status: 204 }
    },

    async deleteUser({ path: { id }, header }) {
      await change(id, header, (ifName) => store.remove(id, ifName))
      return { status: 204 }
    },
  }
}

type Conditions = Parameters<UserHandlers['renameUser']>[0]['header']

/** How often a conditional write is tried; between two tries somebody else has changed the user, and back. */
const TRIES = 10

/** The user, if there is one, and it comes behind `after`. */
const among = (user: User | undefined, after = ''): User[] =>
  user && user.id > after ? [user] : []

/** A new user's fields as text; an absent one is the empty text. */
export const newUser = ({ name, email }: Fields): Omit<User, 'id'> => {
  return { name: text(name), email: text(email) }
}
type Fields = components['schemas']['NewUser']

const text = (value: string | number | boolean | null | undefined): string => String(value ?? '')
