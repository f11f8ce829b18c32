// Whether requests should be sent here. An outage of the store does not change it: all copies of the service
// share the store, and if none were ready, clients would get no response at all instead of a 500.
import { setTimeout as sleep } from 'node:timers/promises'
import type { StoreFailure, UserStore } from '../store/user-store.ts'

export interface Readiness {
  /** Why the service is not ready; undefined if it is. */
  reason: () => string | undefined
  /**
   * The service is ready as soon as `store` has responded once. Resolves after the first try.
   *
   * @returns whether the store is empty; undefined if it did not respond
   * @throws StoreFailure that is final
   */
  started: (store: Store) => Promise<boolean | undefined>
  /** Tries again until `store` responds or the service stops. @throws StoreFailure that is final */
  wait: (store: Store) => Promise<void>
  /** From now on the service is not ready. */
  stopping: () => void
}

type Store = Pick<UserStore, 'isEmpty'>

/** The longest pause between two tries, in milliseconds. The store itself takes up to 2 s to fail. */
const PAUSE = 500

const AWAY = 'the store cannot be reached'

/** @param onChange called with the error when the store does not respond, or with another one; without when it does */
export function createReadiness(onChange: (error?: unknown) => void = () => {}): Readiness {
  let reason: string | undefined = 'starting'
  let problem: string | undefined

  async function started(store: Store): Promise<boolean | undefined> {
    try {
      const isEmpty = await store.isEmpty()
      if (reason === 'stopping') return isEmpty
      reason = undefined
      if (problem !== undefined) onChange()
      return isEmpty
    } catch (error) {
      const { message, isFinal } = error as StoreFailure
      if (reason === 'stopping') return undefined
      if (isFinal) throw error
      reason = AWAY
      if (message !== problem) onChange(error)
      problem = message
      return undefined
    }
  }

  return {
    reason: () => reason,
    started,
    async wait(store) {
      for (let pause = 50; reason === AWAY; pause = Math.min(2 * pause, PAUSE)) {
        await sleep(pause, undefined, { ref: false })
        await started(store)
      }
    },
    stopping: () => void (reason = 'stopping'),
  }
}
