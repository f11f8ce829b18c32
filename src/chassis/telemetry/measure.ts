// Measures the calls of a store.
import { StoreFailure } from '../failure.ts'
import type { Metrics } from './metrics.ts'

type Call = (...args: unknown[]) => Promise<unknown>

/** Replaces the methods `names` of `store`, each of which must return a promise, by ones that are measured. */
export function measure<S extends object>(
  store: S,
  names: readonly (keyof S & string)[],
  metrics: Metrics,
): S {
  function timed(operation: string, call: Call): Call {
    const { ended, failed } = metrics.storeOperation(operation)
    return async (...args) => {
      const start = performance.now()
      try {
        return await call.apply(store, args)
      } catch (error) {
        if (error instanceof StoreFailure) failed()
        throw error
      } finally {
        ended((performance.now() - start) / 1000)
      }
    }
  }

  const measured = names.map((name) => [name, timed(name, store[name] as unknown as Call)])
  return Object.assign(store, Object.fromEntries(measured)) // not a copy, which would lack private members
}
