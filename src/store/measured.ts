// A store whose calls are measured. Changes nothing else about it.
import type { Metrics } from '../metrics.ts'
import { StoreFailure, type UserStore } from './user-store.ts'

export function measured(store: UserStore, metrics: Metrics): UserStore {
  /** A call of the store, measured under a name. */
  const timed =
    <A extends unknown[], R>(operation: string, call: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      const end = metrics.storeCall(operation)
      try {
        const answer = await call(...given)
        end()
        return answer
      } catch (error) {
        end({ failed: error instanceof StoreFailure })
        throw error
      }
    }

  return {
    ...store,
    create: timed('create', (user) => store.create(user)),
    find: timed('find', (id) => store.find(id)),
    findByEmail: timed('findByEmail', (email) => store.findByEmail(email)),
    rename: timed('rename', (id, name) => store.rename(id, name)),
    remove: timed('remove', (id) => store.remove(id)),
    async *list() {
      const users = store.list()[Symbol.asyncIterator]()
      const next = timed('list', () => users.next())
      try {
        for (let { done, value } = await next(); !done; { done, value } = await users.next()) {
          yield value
        }
      } finally {
        await users.return?.()
      }
    },
  }
}
