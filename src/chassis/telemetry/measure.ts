// Measures the calls of a store.
import type { Metrics, StoreCall } from './metrics.ts'
import type { Spans } from './spans.ts'

/** Replaces the methods `names` of `store`, each of which must return a promise, by ones that are measured. */
export function measure<S extends object>(
  store: S,
  names: readonly (keyof S & string)[],
  metrics: Metrics,
  spans?: Spans,
): S {
  const system = 'system' in store ? String(store.system) : undefined
  const measured = names.map((name) => {
    const call = store[name] as StoreCall
    const measureCall = metrics.storeOperation(name)
    const measured = (...args: unknown[]) => measureCall(call, store, args)
    const inSpan = spans?.ofStore(name, system)
    return [name, inSpan ? (...args: unknown[]) => inSpan(measured, args) : measured]
  })
  return Object.assign(store, Object.fromEntries(measured)) // not a copy, which would lack private members
}
