// A store that measures the calls of another store. Changes nothing else.
import type { Metrics } from './metrics.ts'
import { StoreFailure, type UserStore } from '../store/user-store.ts'

export function measured(store: UserStore, metrics: Metrics): UserStore {
  /** Returns a function that starts a measurement, and returns one that stops it; only the first stop counts. */
  function clock(operation: string) {
    const { ended, failed } = metrics.storeOperation(operation)
    return () => {
      const start = performance.now()
      let isRunning = true
      return (error?: unknown) => {
        if (isRunning) ended((performance.now() - start) / 1000)
        isRunning = false
        if (error instanceof StoreFailure) failed()
      }
    }
  }

  function timed<A extends unknown[], R>(operation: string, call: (...args: A) => Promise<R>) {
    const start = clock(operation)
    return (...args: A): Promise<R> => {
      const stop = start()
      const result = call(...args)
      result.then(() => stop(), stop)
      return result
    }
  }

  const startList = clock('list')
  /** The time counts until the first page. */
  async function* list(query: Parameters<UserStore['list']>[0]) {
    const stop = startList()
    try {
      for await (const page of store.list(query)) {
        stop()
        yield page
      }
      stop()
    } catch (error) {
      stop(error)
      throw error
    }
  }

  // Each method is listed, so that a new one does not compile until it is measured, or passed on, here.
  return {
    description: store.description,
    maxBatchSize: store.maxBatchSize,
    createMany: (users, update) => store.createMany(users, update),
    isEmpty: () => store.isEmpty(),
    close: () => store.close(),
    create: timed('create', (fields) => store.create(fields)),
    find: timed('find', (id) => store.find(id)),
    findByEmail: timed('findByEmail', (email) => store.findByEmail(email)),
    rename: timed('rename', (id, name, ifName) => store.rename(id, name, ifName)),
    remove: timed('remove', (id, ifName) => store.remove(id, ifName)),
    ids: timed('ids', (after, limit) => store.ids(after, limit)),
    list,
  }
}
