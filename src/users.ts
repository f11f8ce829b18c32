// The operations under /users, each by its operationId.
import { pathOf } from './contract/contract.ts'
import type { Handlers } from './contract/handlers.ts'
import type { components } from './contract/openapi.ts'
import { noSuchUser } from './errors.ts'
import type { User, UserStore } from './store/user-store.ts'

type UserHandlers = Pick<
  Handlers,
  'listUsers' | 'createUser' | 'readUser' | 'renameUser' | 'deleteUser'
>

export function users(store: UserStore): UserHandlers {
  return {
    listUsers: () => ({ status: 200, body: store.list() }),

    async createUser({ body }) {
      const user = await store.create(newUser(body))
      return { status: 201, headers: { Location: pathOf('readUser', { id: user.id }) }, body: user }
    },

    async readUser({ path: { id } }) {
      const user = await store.find(id)
      if (!user) throw noSuchUser()
      return { status: 200, body: user }
    },

    async renameUser({ path: { id }, body: { name } }) {
      if (!(await store.rename(id, name))) throw noSuchUser()
      return { status: 204 }
    },

    async deleteUser({ path: { id } }) {
      if (!(await store.remove(id))) throw noSuchUser()
      return { status: 204 }
    },
  }
}

/** A new user's fields as text; what isn't there is the empty one. */
export const newUser = ({ name, email }: Fields): Omit<User, 'id'> => {
  return { name: text(name), email: text(email) }
}
type Fields = components['schemas']['NewUser']

const text = (value: string | number | boolean | null | undefined): string => String(value ?? '')
