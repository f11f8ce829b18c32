// Whether requests should be sent here: the service has started, is not stopping, and its store responds.
import { setTimeout as sleep } from 'node:timers/promises'
import type { UserStore } from '../store/user-store.ts'

export interface Readiness {
  /** Why the service is not ready; undefined if it is. */
  reason: () => string | undefined
  /** From now on the service is ready while `store` responds. Resolves after the first check. */
  started: (store: Pick<UserStore, 'isEmpty'>) => Promise<void>
  /** From now on the service is not ready. */
  stopping: () => void
}

/** How long the store may be unreachable before the service is not ready, in milliseconds. */
const PATIENCE = 1_000

/** The pause between two checks of the store, in milliseconds. */
const INTERVAL = 500

/** @param onOutage called with the error when the store begins to fail, and without one when it responds again */
export function createReadiness(onOutage: (error?: unknown) => void = () => {}): Readiness {
  let state: 'starting' | 'started' | 'stopping' = 'starting'
  /** When the check began to which the store has not responded yet. Before the first response: always. */
  let unanswered: number | undefined = -Infinity
  let isAway = false

  const isStarted = () => state === 'started'

  /** A call that hangs counts as one that fails. */
  async function check(store: Pick<UserStore, 'isEmpty'>): Promise<void> {
    unanswered ??= performance.now()
    try {
      await store.isEmpty()
      unanswered = undefined
      if (isAway) onOutage()
      isAway = false
    } catch (error) {
      if (!isAway) onOutage(error)
      isAway = true
    }
  }

  async function watch(store: Pick<UserStore, 'isEmpty'>): Promise<void> {
    while (isStarted()) {
      await sleep(INTERVAL, undefined, { ref: false })
      await check(store)
    }
  }

  return {
    reason() {
      if (!isStarted()) return state
      const outage = unanswered === undefined ? 0 : performance.now() - unanswered
      return outage > PATIENCE ? 'the store cannot be reached' : undefined
    },
    async started(store) {
      state = 'started'
      await check(store)
      void watch(store)
    },
    stopping: () => void (state = 'stopping'),
  }
}
