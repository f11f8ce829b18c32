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
        return await call(...given)
      } catch (error) {
        if (error instanceof StoreFailure) metrics.storeFailed(operation)
        throw error
      } finally {
        end()
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
      const end = metrics.storeCall('list')
      let first = true
      try {
        for await (const user of store.list()) {
          if (first) end()
          first = false
          yield user
        }
      } catch (error) {
        if (error instanceof StoreFailure) metrics.storeFailed('list')
        throw error
      } finally {
        if (first) end()
      }
    },
  }
}
