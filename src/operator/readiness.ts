// Whether requests should be sent here: the service has started, is not stopping, and its store responds.
import { setTimeout as sleep } from 'node:timers/promises'
import type { UserStore } from '../store/user-store.ts'

export interface Readiness {
  /** Why the service is not ready; undefined if it is. */
  reason: () => string | undefined
  /** From now on the service is ready while `store` responds. */
  started: (store: Pick<UserStore, 'isEmpty'>) => void
  /** From now on the service is not ready. */
  stopping: () => void
}

/** How long the store may be unreachable before the service is not ready, in milliseconds. */
const PATIENCE = 1_000

/** The pause between two checks of the store, in milliseconds. */
const INTERVAL = 500

export function createReadiness(): Readiness {
  let state: 'starting' | 'started' | 'stopping' = 'starting'
  let unanswered: number | undefined // when the check began to which the store has not responded yet

  const isStarted = () => state === 'started'

  /** Checks the store again and again. A call that hangs counts as one that fails. */
  async function watch(store: Pick<UserStore, 'isEmpty'>): Promise<void> {
    for (; isStarted(); await sleep(INTERVAL, undefined, { ref: false })) {
      unanswered ??= performance.now()
      await store.isEmpty().then(
        () => (unanswered = undefined),
        () => {},
      )
    }
  }

  return {
    reason() {
      if (!isStarted()) return state
      const outage = unanswered === undefined ? 0 : performance.now() - unanswered
      return outage > PATIENCE ? 'the store cannot be reached' : undefined
    },
    started(store) {
      state = 'started'
      void watch(store)
    },
    stopping: () => void (state = 'stopping'),
  }
}
