// Whether requests should come here: started, not stopping, and the store has answered of late.
import { setTimeout as sleep } from 'node:timers/promises'
import type { UserStore } from '../store/user-store.ts'

export interface Readiness {
  /** Why no requests should come; none when they should. */
  reason(): string | undefined
  /** From now on the service is ready while `store` answers. */
  started(store: Pick<UserStore, 'isEmpty'>): void
  /** From now on it is not. */
  stopping(): void
}

/** How long, in milliseconds, the store may be unreachable until the service is not ready: within 2 s in all. */
const PATIENCE = 1_000

/** How often the store is asked, in milliseconds. */
const INTERVAL = 500

export function createReadiness(): Readiness {
  let state: 'starting' | 'started' | 'stopping' = 'starting'
  let unanswered: number | undefined // since when the store has been asked in vain

  const isStarted = () => state === 'started'

  /** Asks the store again and again. A call that hangs is one that has not answered. */
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
