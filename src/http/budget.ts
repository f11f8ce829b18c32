// A budget of memory that all clients share. When it is spent, the holder that has made no progress for
// the longest time must give its share back: a slow client never takes memory from a quick one. What a
// client has sent completely waits until there is room to work on it.
import { LIMITS, type Limits } from './limits.ts'

export interface Holder {
  /** Called when others need the share. The budget no longer counts it. */
  giveUp(): void
}

/** Shares in bytes, and their sum. The one that was set last comes last. */
class Shares extends Map<Holder, number> {
  sum = 0

  override set(holder: Holder, bytes: number): this {
    this.delete(holder)
    this.sum += bytes
    return super.set(holder, bytes)
  }

  override delete(holder: Holder): boolean {
    this.sum -= this.get(holder) ?? 0
    return super.delete(holder)
  }
}

type BudgetLimits = Pick<Limits, 'memory' | 'complete' | 'work' | 'smallPart' | 'smallWork'>

export class Budget {
  readonly #shares = new Shares()
  /** The shares that clients have sent completely. */
  readonly #complete = new Shares()
  /** Those of them that are worked on, with what the work takes. */
  readonly #working = new Shares()
  readonly #waiting = new Map<Holder, { bytes: number; begin: () => void }>()
  readonly #limits: BudgetLimits
  #hasBegun = false

  constructor(limits: BudgetLimits = LIMITS) {
    this.#limits = limits
  }

  /** Sets the share of `holder`, in bytes, and notes that it has made progress. @returns whether the share counts */
  hold(holder: Holder, bytes: number): boolean {
    if (bytes <= this.#limits.smallPart && !this.#shares.has(holder)) return false
    this.#shares.set(holder, bytes)
    for (const slowest of this.#shares.keys()) {
      if (this.#shares.sum + this.#complete.sum <= this.#limits.memory) break
      this.#drop(slowest)
    }
    return this.#shares.has(holder)
  }

  /**
   * Calls `begin` when there is room for work that takes `bytes`, for one holder per turn of the event loop. The
   * client has sent its part, so the holder keeps its share, unless such shares already take most of the memory.
   */
  work(holder: Holder, bytes: number, begin: () => void): void {
    if (bytes <= this.#limits.smallWork) return begin()
    const share = this.#shares.get(holder) ?? 0
    if (this.#complete.sum + share > this.#limits.complete) return this.#drop(holder)
    this.#shares.delete(holder)
    this.#complete.set(holder, share)
    this.#waiting.set(holder, { bytes, begin })
    this.#beginNext()
  }

  /** The holder needs its share no more, whether it was worked on or not. */
  release(holder: Holder): void {
    this.#shares.delete(holder)
    this.#complete.delete(holder)
    this.#working.delete(holder)
    this.#waiting.delete(holder)
    this.#beginNext()
  }

  #drop(holder: Holder): void {
    this.release(holder)
    holder.giveUp()
  }

  #beginNext(): void {
    const [next] = this.#waiting
    if (!next || this.#hasBegun) return
    const [holder, { bytes, begin }] = next
    if (this.#working.size > 0 && this.#working.sum + bytes > this.#limits.work) return
    this.#hasBegun = true
    setImmediate(() => {
      this.#hasBegun = false
      this.#beginNext()
    })
    this.#waiting.delete(holder)
    this.#working.set(holder, bytes)
    begin()
  }
}
