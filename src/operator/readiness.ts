// Whether requests should be sent here. An outage of the store does not change it: all copies of the service
// share the store, and if none were ready, clients would get no response at all instead of a 500.
import { setTimeout as sleep } from 'node:timers/promises'
import type { UserStore } from '../store/user-store.ts'

export interface Readiness {
  /** Why the service is not ready; undefined if it is. */
  reason: () => string | undefined
  /**
   * The service is ready as soon as `store` has responded once. Resolves after the first try.
   *
   * @returns whether the store is empty; undefined if it did not respond
   */
  started: (store: Pick<UserStore, 'isEmpty'>) => Promise<boolean | undefined>
  /** From now on the service is not ready. */
  stopping: () => void
}

/** The longest pause between two tries, in milliseconds. The store itself takes up to 2 s to fail. */
const PAUSE = 500

/** @param onChange called with the error when the store does not respond at the start, and without when it does */
export function createReadiness(onChange: (error?: unknown) => void = () => {}): Readiness {
  let reason: string | undefined = 'starting'

  async function wait(store: Pick<UserStore, 'isEmpty'>): Promise<void> {
    for (let pause = 50; reason !== 'stopping'; pause = Math.min(2 * pause, PAUSE)) {
      await sleep(pause, undefined, { ref: false })
      const isThere = await store.isEmpty().then(
        () => true,
        () => false,
      )
      if (!isThere || reason === 'stopping') continue
      reason = undefined
      return onChange()
    }
  }

  return {
    reason: () => reason,
    async started(store) {
      try {
        const isEmpty = await store.isEmpty()
        reason = undefined
        return isEmpty
      } catch (error) {
        reason = 'the store cannot be reached'
        onChange(error)
        void wait(store)
        return undefined
      }
    },
    stopping: () => void (reason = 'stopping'),
  }
}
