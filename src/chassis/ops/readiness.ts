// What /readyz says: whether load balancers should send requests to this process. An outage of the store does not make it
// unready: all copies of the service share the store, and if none were ready, clients would get no response instead of a 500.
import { StoreFailure } from '../failure.ts'
import type { Store } from '../service.ts'
import type { Logger } from '../telemetry/log.ts'

export type Readiness = ReturnType<typeof createReadiness>

const GONE =
  'the database was deleted or replaced, and writes fail: if you need what it had, read it from this service now; then restart the service, which opens the file that is there, or makes an empty one'

/** How long a store may take to respond, in milliseconds: its own time limits, which say more, are shorter. */
const RESPONSE_MS = 5_000

/** Tells `log` when the store fails, and when it responds again. */
export function createReadiness(log: Logger) {
  let state: 'starting' | 'ready' | 'stopping' | typeof GONE = 'starting'
  let store: Pick<Store, 'oldest' | 'isGone' | 'onGone'> | undefined
  /** The call of the store in progress: one that hangs is not followed by others. */
  let pending: Promise<Date | null> | undefined
  /** Why the store cannot be used, in an outage. */
  let problem: string | undefined

  function isGone(): boolean {
    try {
      return store?.isGone?.() ?? false
    } catch {
      return false // the next call of the store says why
    }
  }

  /**
   * Checks a store. The service is ready as soon as it has responded once.
   *
   * @returns when its oldest record was created, null if it has none; undefined if it did not respond
   */
  async function check(checked: NonNullable<typeof store>): Promise<Date | null | undefined> {
    store = checked
    try {
      if (state === 'ready' && isGone()) {
        state = GONE
        log.error(GONE)
        store.onGone?.()
      }
      pending ??= store.oldest().finally(() => (pending = undefined))
      const oldest = await Promise.race([pending, failLate()])
      if (Number.isNaN(oldest?.getTime())) throw new TypeError('`oldest` is not a valid date')
      if (problem) log.info('the store responds again')
      problem = undefined
      if (state === 'starting') state = 'ready'
      return oldest
    } catch (err) {
      if (state === 'stopping') return undefined
      const kind = err instanceof StoreFailure ? err.kind : 'error'
      if (kind !== problem) log.error({ err: err ?? String(err) }, 'the store cannot be used')
      problem = kind
      return undefined
    }
  }

  return {
    check,

    /** What /readyz says. */
    status() {
      const now = state === 'ready' && isGone() ? GONE : state
      const outage = problem ? `, but the store cannot be used: ${problem}` : ''
      return { isReady: now === 'ready', state: now + outage }
    },

    /** From now on the service is not ready. */
    stopping() {
      state = 'stopping'
    },
  }
}

const LATE = new StoreFailure(new Error(`after ${RESPONSE_MS} ms`), 'use the store', 'no response')

const failLate = () =>
  new Promise<never>((_, reject) => void setTimeout(reject, RESPONSE_MS, LATE).unref())
