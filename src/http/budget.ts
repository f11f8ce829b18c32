// The budget of memory that all clients share. Large bodies and lists begin in order of arrival while there is
// room, and later ones wait. While some wait, a client that makes no progress loses its share, so that slow clients
// never use up the budget.
import { LIMITS, type Limits } from './limits.ts'
import { letOthersIn } from '../turns.ts'

export interface Holder {
  /** Called when others need the share. The budget no longer counts it. */
  giveUp(): void
  /** Whether the service, not the client, must act next. Then the holder keeps its share. */
  isBusy?(): boolean
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

interface Turn {
  bytes: number
  go: () => void
  hasBegun?: boolean
}

type BudgetLimits = Pick<
  Limits,
  'memory' | 'begun' | 'patience' | 'work' | 'slice' | 'turns' | 'smallPart'
>

export class Budget {
  /** What clients send or read. The holder without progress for the longest time comes first. */
  readonly #shares = new Shares()
  /** What clients have sent completely. */
  readonly #complete = new Shares()
  /** Those of them that are worked on, with what the work takes. */
  readonly #working = new Shares()
  readonly #waitingForWork = new Map<Holder, Turn>()
  /** The holders that take turns, the oldest first. A turn ends when its holder calls `hold`. */
  readonly #turns = new Map<Holder, Turn | undefined>()
  /** Those of them that wait for their first turn, with what they take meanwhile. */
  readonly #beginners = new Shares()
  /** When each holder made progress, in milliseconds. */
  readonly #progress = new WeakMap<Holder, number>()
  readonly #limits: BudgetLimits
  /** The bytes of the work that began since other requests were last served. */
  #slice = 0
  #isTurn = false
  #isWaitingForRoom = false

  constructor(limits: BudgetLimits = LIMITS) {
    this.#limits = limits
  }

  /** Sets the share of `holder`, in bytes, and notes that it has made progress. @returns whether the share counts */
  hold(holder: Holder, bytes: number): boolean {
    if (bytes <= this.#limits.smallPart && !this.#shares.has(holder)) return false
    this.#shares.set(holder, bytes)
    this.#progress.set(holder, performance.now())
    if (this.#turns.has(holder)) this.#turns.set(holder, undefined)
    this.#dropSlowest(() => this.#total > this.#limits.memory)
    return this.#shares.has(holder)
  }

  /**
   * Calls `go` when it is the turn of `holder`, which may then take `bytes`, and must call `hold`: a few holders in
   * each turn of the event loop, the oldest first. The first turn of a holder comes when there is room; until then
   * it takes `waiting` bytes.
   */
  next(holder: Holder, bytes: number, waiting: number, go: () => void): void {
    this.#turns.set(holder, { bytes, go })
    if (!this.#shares.has(holder)) this.#beginners.set(holder, waiting)
    if (this.#total > this.#limits.memory) this.#drop(holder)
    else this.#takeTurns()
  }

  /**
   * Calls `begin` when there is room for work that takes `bytes`. Lets others in after some work. The client has sent
   * its part, so the holder keeps its share.
   */
  work(holder: Holder, bytes: number, begin: () => void): void {
    if (bytes <= this.#limits.smallPart) return begin()
    const share = this.#shares.get(holder) ?? 0
    this.#shares.delete(holder)
    this.#turns.delete(holder)
    this.#complete.set(holder, share)
    this.#waitingForWork.set(holder, { bytes, go: begin })
    this.#beginWork()
  }

  /** The holder needs its share no more, whether it was worked on or not. */
  release(holder: Holder): void {
    const all = [this.#shares, this.#complete, this.#working, this.#waitingForWork, this.#turns]
    for (const one of [...all, this.#beginners]) one.delete(holder)
    this.#beginWork()
    this.#takeTurns()
  }

  get #total(): number {
    return this.#shares.sum + this.#complete.sum + this.#beginners.sum
  }

  get #hasRoom(): boolean {
    return this.#shares.sum + this.#complete.sum < this.#limits.begun
  }

  #drop(holder: Holder): void {
    this.release(holder)
    holder.giveUp()
  }

  /** Drops those that wait for their clients, the slowest first. */
  #dropSlowest(isNeeded: () => boolean, isSlow: (holder: Holder) => boolean = () => true): void {
    for (const holder of this.#shares.keys()) {
      if (!isNeeded()) return
      if (!this.#turns.get(holder) && !holder.isBusy?.() && isSlow(holder)) this.#drop(holder)
    }
  }

  #takeTurns(): void {
    if (this.#isTurn || this.#turns.size === 0) return
    this.#isTurn = true
    setImmediate(() => {
      this.#isTurn = false
      let taken = 0
      for (const [holder, turn] of this.#turns) {
        if (!turn || turn.hasBegun) continue
        if (this.#beginners.has(holder) && !this.#hasRoom) {
          this.#waitForRoom()
          continue
        }
        if (taken === this.#limits.turns) return this.#takeTurns()
        taken += 1
        turn.hasBegun = true
        this.#beginners.delete(holder)
        this.#shares.set(holder, turn.bytes)
        turn.go()
      }
    })
  }

  #waitForRoom(): void {
    if (this.#isWaitingForRoom) return
    this.#isWaitingForRoom = true
    const { patience } = this.#limits
    setTimeout(() => {
      this.#isWaitingForRoom = false
      const since = performance.now() - patience
      this.#dropSlowest(
        () => !this.#hasRoom,
        (holder) => this.#turns.has(holder) && this.#progress.get(holder)! <= since,
      )
      this.#takeTurns()
    }, patience).unref()
  }

  #beginWork(): void {
    const { work, slice } = this.#limits
    for (const [holder, { bytes, go }] of this.#waitingForWork) {
      const isFull = this.#working.size > 0 && this.#working.sum + bytes > work
      if (isFull || this.#slice >= slice) return
      this.#slice += bytes
      if (this.#slice >= slice) void this.#pause()
      this.#waitingForWork.delete(holder)
      this.#working.set(holder, bytes)
      go()
    }
  }

  async #pause(): Promise<void> {
    await letOthersIn()
    this.#slice = 0
    this.#beginWork()
  }
}
