// Measures the calls of a store.
import type { Metrics } from './metrics.ts'

type Call = (...args: unknown[]) => Promise<unknown>

/** Replaces the methods `names` of `store`, each of which must return a promise, by ones that are measured. */
export function measure<S extends object>(
  store: S,
  names: readonly (keyof S & string)[],
  metrics: Metrics,
): S {
  const measured = names.map((name) => {
    const call = store[name] as Call
    const measureCall = metrics.storeOperation(name)
    return [name, (...args: unknown[]) => measureCall(() => call.apply(store, args))]
  })
  return Object.assign(store, Object.fromEntries(measured)) // not a copy, which would lack private members
}
