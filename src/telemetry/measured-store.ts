// A store that measures the calls of another store. Changes nothing else.
import type { Metrics } from './metrics.ts'
import { StoreFailure, type UserStore } from '../store/user-store.ts'

export function measure(store: UserStore, metrics: Metrics): UserStore {
  function timed<A extends unknown[], R>(operation: string, call: (...args: A) => Promise<R>) {
    const { ended, failed } = metrics.storeOperation(operation)
    return async (...args: A): Promise<R> => {
      const start = performance.now()
      try {
        return await call(...args)
      } catch (error) {
        if (error instanceof StoreFailure) failed()
        throw error
      } finally {
        ended((performance.now() - start) / 1000)
      }
    }
  }

  // Each method is listed, so that a new one does not compile until it is measured, or passed on, here.
  return {
    description: store.description,
    maxBatchSize: store.maxBatchSize,
    createMany: (users, update) => store.createMany(users, update),
    isEmpty: () => store.isEmpty(),
    isGone: () => store.isGone(),
    close: () => store.close(),
    create: timed('create', (fields) => store.create(fields)),
    find: timed('find', (id) => store.find(id)),
    findByEmail: timed('findByEmail', (email) => store.findByEmail(email)),
    rename: timed('rename', (id, name, condition) => store.rename(id, name, condition)),
    remove: timed('remove', (id, condition) => store.remove(id, condition)),
    ids: timed('ids', (after, limit) => store.ids(after, limit)),
    list: timed('list', (query) => store.list(query)),
  }
}
