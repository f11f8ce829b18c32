// A store whose calls are measured. Changes nothing else about it.
import type { Metrics } from '../telemetry/metrics.ts'
import { StoreFailure, type UserStore } from './user-store.ts'

export function measured(store: UserStore, metrics: Metrics): UserStore {
  /** A call of the store, measured under a name. */
  function timed<A extends unknown[], R>(operation: string, call: (...given: A) => Promise<R>) {
    const { ended, failed } = metrics.storeOperation(operation)
    return async (...given: A): Promise<R> => {
      const start = performance.now()
      try {
        return await call(...given)
      } catch (error) {
        if (error instanceof StoreFailure) failed()
        throw error
      } finally {
        ended((performance.now() - start) / 1000)
      }
    }
  }

  /** A list, measured until its first item. */
  function timedList<A extends unknown[], T>(
    operation: string,
    call: (...given: A) => AsyncIterable<T>,
  ) {
    const { ended, failed } = metrics.storeOperation(operation)
    return async function* (...given: A) {
      const start = performance.now()
      let first = true
      const begun = () => {
        if (first) ended((performance.now() - start) / 1000)
        first = false
      }
      try {
        for await (const item of call(...given)) {
          begun()
          yield item
        }
      } catch (error) {
        if (error instanceof StoreFailure) failed()
        throw error
      } finally {
        begun()
      }
    }
  }

  return {
    ...store,
    create: timed('create', (user) => store.create(user)),
    find: timed('find', (id) => store.find(id)),
    findByEmail: timed('findByEmail', (email) => store.findByEmail(email)),
    rename: timed('rename', (id, name, ifName) => store.rename(id, name, ifName)),
    remove: timed('remove', (id, ifName) => store.remove(id, ifName)),
    ids: timed('ids', (after, limit) => store.ids(after, limit)),
    list: timedList('list', (which) => store.list(which)),
  }
}
