// Measures the calls of a store. Changes nothing else.
import { StoreFailure } from '../failure.ts'
import type { Metrics } from './metrics.ts'

type Call = (...args: unknown[]) => Promise<unknown>

/** `store` with the methods `names` measured; each must return a promise. */
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

  const measured = new Map<string | symbol, Call>(
    names.map((name) => [name, timed(name, store[name] as unknown as Call)]),
  )
  return new Proxy(store, {
    get(_, name) {
      const value: unknown = Reflect.get(store, name)
      if (typeof value !== 'function') return value
      return measured.get(name) ?? value.bind(store) // it may use private members, which a proxy has not
    },
  })
}
