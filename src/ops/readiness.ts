// Whether requests should be sent here, and whether the store works. An outage does not make the service unready:
// all copies of it share the store, and if none were ready, clients would get no response at all instead of a 500.
import type { StoreFailure, UserStore } from '../store/user-store.ts'
import type { Logger } from '../telemetry/log.ts'

export type Readiness = ReturnType<typeof createReadiness>

type Store = Pick<UserStore, 'isEmpty' | 'isGone'>

const GONE =
  'the database was deleted or replaced: writes fail. If you need the former users, try to save them with GET /users. Then restart the service: it opens the users.db that is there, or makes an empty one'

/** How long to wait between two checks of a store that fails. */
const PAUSE_MS = 500

/** Tells `log` when the store fails, and when it responds again. */
export function createReadiness(log: Logger) {
  let state: 'starting' | 'ready' | 'stopping' | typeof GONE = 'starting'
  let checked: Store | undefined
  /** The present outage, if there is one, and why the store failed. */
  let outage: { since: Date; failed: number; kind?: string } | undefined

  /**
   * Checks `store` until it responds or the service stops. The service is ready as soon as it has responded once.
   *
   * @returns whether the store is empty; undefined if it did not respond to the first check
   */
  async function check(store: Store): Promise<boolean | undefined> {
    checked = store
    outage ??= { since: new Date(), failed: 0 }
    const current = outage
    try {
      const isEmpty = await store.isEmpty()
      const { kind, ...counted } = current
      if (kind) log.info(counted, 'the store responds again')
      outage = undefined
      if (state === 'starting') state = 'ready'
      return isEmpty
    } catch (err) {
      if (state === 'stopping') return undefined
      log.error({ err }, 'the store cannot be used')
      current.kind = (err as StoreFailure).kind
      setTimeout(() => void check(store), PAUSE_MS).unref()
      return undefined
    }
  }

  return {
    check,

    /** Counts a request that failed because of `store`, and checks `store`. */
    onRequestFailed(store: Store): void {
      if (!outage) void check(store)
      outage!.failed += 1
    },

    /** What /readyz says. */
    status() {
      if (state === 'ready' && checked?.isGone()) {
        state = GONE
        log.error(GONE)
      }
      const problem = outage?.kind ? `, but the store cannot be used: ${outage.kind}` : ''
      return { isReady: state === 'ready', state: state + problem }
    },

    /** From now on the service is not ready. */
    stopping() {
      state = 'stopping'
    },
  }
}
