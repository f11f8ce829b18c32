// A budget of memory that all clients share. When it is spent, the holder that has made no progress for
// the longest time must give its share back: a slow client never takes memory from a quick one. What a
// client has sent completely stays, and waits until there is room to work on it.
import { LIMITS } from './limits.ts'

export interface Holder {
  /** Called when others need the share. The budget no longer counts it. */
  giveUp(): void
}

export class Budget {
  /** The one without progress for the longest time comes first. */
  readonly #shares = new Map<Holder, number>()
  readonly #waiting = new Map<Holder, { bytes: number; begin: () => void }>()
  readonly #working = new Map<Holder, number>()
  readonly #limits: { memory: number; work: number; smallPart: number }
  #held = 0
  #inWork = 0

  /**
   * @param limits in bytes: the most that all holders together may have, the most of it that is worked on
   * at the same time, and the size up to which a share does not count
   */
  constructor(limits: { memory: number; work: number; smallPart: number } = LIMITS) {
    this.#limits = limits
  }

  /** Sets the share of `holder`, in bytes, and notes that it has made progress. @returns whether the share counts */
  hold(holder: Holder, bytes: number): boolean {
    if (bytes <= this.#limits.smallPart && !this.#shares.has(holder)) return false
    this.release(holder)
    this.#held += bytes
    this.#shares.set(holder, bytes)
    for (const slowest of this.#shares.keys()) {
      if (this.#held <= this.#limits.memory) break
      this.release(slowest)
      slowest.giveUp()
    }
    return this.#shares.has(holder)
  }

  /** Calls `begin` when there is room to work on the share of `holder`, which it no longer has to give back. */
  work(holder: Holder, begin: () => void): void {
    const bytes = this.#shares.get(holder)
    if (bytes === undefined) return begin()
    this.#shares.delete(holder)
    this.#waiting.set(holder, { bytes, begin })
    this.#beginWork()
  }

  /** The holder needs its share no more, whether it was worked on or not. */
  release(holder: Holder): void {
    const worked = this.#working.get(holder) ?? 0
    this.#held -= this.#shares.get(holder) ?? this.#waiting.get(holder)?.bytes ?? worked
    this.#inWork -= worked
    for (const holders of [this.#shares, this.#waiting, this.#working]) holders.delete(holder)
    this.#beginWork()
  }

  #beginWork(): void {
    for (const [holder, { bytes, begin }] of this.#waiting) {
      if (this.#inWork > 0 && this.#inWork + bytes > this.#limits.work) return
      this.#waiting.delete(holder)
      this.#working.set(holder, bytes)
      this.#inWork += bytes
      begin()
    }
  }
}
