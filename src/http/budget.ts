// A budget of memory that all clients share. When it is spent, the holder that has made no progress for
// the longest time must give its share back: a slow client never takes memory from a quick one.
import { LIMITS } from './limits.ts'

export interface Holder {
  /** Called when others need the share. The budget no longer counts it. */
  giveUp(): void
}

export class Budget {
  /** The one without progress for the longest time comes first. */
  readonly #shares = new Map<Holder, number>()
  readonly #limit: number
  readonly #small: number
  #held = 0

  /**
   * @param limit the most that all holders together may have, in bytes
   * @param small a share up to this size, in bytes, does not count
   */
  constructor(limit: number, small: number) {
    this.#limit = limit
    this.#small = small
  }

  /** Sets the share of `holder`, in bytes, and notes that it has made progress. @returns whether the share counts */
  hold(holder: Holder, bytes: number): boolean {
    if (bytes <= this.#small && !this.#shares.has(holder)) return false
    this.release(holder)
    this.#held += bytes
    this.#shares.set(holder, bytes)
    for (const slowest of this.#shares.keys()) {
      if (this.#held <= this.#limit) break
      this.release(slowest)
      slowest.giveUp()
    }
    return this.#shares.has(holder)
  }

  release(holder: Holder): void {
    this.#held -= this.#shares.get(holder) ?? 0
    this.#shares.delete(holder)
  }
}

/** The budget of one service: everything that clients make it hold. */
export const newMemory = (): Budget => new Budget(LIMITS.memory, LIMITS.smallPart)
