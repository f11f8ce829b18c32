// The budget of memory that all requests share. Large bodies and lists begin in order of arrival while there is
// room, and later ones wait. When the budget is spent, and while others wait, requests that wait for their clients
// are dropped: slow clients cannot use it up.
import { LIMITS, type Limits } from './limits.ts'
import { letOthersIn } from '../turns.ts'

/** A request, for the budget. */
export interface Holder {
  /** The bytes that it takes until it is over. */
  least: number
  /** Whether it is over. Then it takes nothing. */
  isOver: boolean
  /** Whether the service, not the client, must act next. Then it is not dropped. */
  isBusy(): boolean
  /** Drops what it holds. */
  giveUp(): void
}

interface Share {
  bytes: number
  /** Whether it is part of a body or list that has begun. */
  hasBegun: boolean
  /** Whether it is that of a list. Lists and bodies do not wait for each other. */
  isList: boolean
  /** The times of the last progress, and of the first of the turns that it has taken, in milliseconds. */
  progress: number
  began?: number | undefined
  /** What it waits for, or does. */
  task?: Task | undefined
}

interface Task {
  isWork: boolean
  bytes: number
  go: () => void
  isRunning: boolean
}

type BudgetLimits = Pick<
  Limits,
  'memory' | 'begun' | 'longPart' | 'patience' | 'work' | 'slice' | 'turns' | 'smallPart'
>

export class Budget {
  readonly #limits: BudgetLimits
  /** The one without progress for the longest time comes first. */
  readonly #shares = new Map<Holder, Share>()
  /** Those with a body or list that has begun, or waits to begin, in order of arrival. */
  readonly #large = new Set<Holder>()
  /** Those that wait for work. */
  readonly #works = new Set<Holder>()
  /** The bytes of all shares, and of the bodies and the lists that have begun. */
  #total = 0
  readonly #begun = { body: 0, list: 0 }
  /** The bytes of the work that is being done, and of the work that began since other requests were served. */
  #working = 0
  #slice = 0
  #isTakingTurns = false
  #isWaitingForRoom = false

  constructor(limits: BudgetLimits = LIMITS) {
    this.#limits = limits
  }

  /**
   * Sets what `holder` takes to `bytes`, and notes that it has made progress. Ends its turn or its work.
   *
   * @returns false if it was dropped, or is over
   */
  hold(holder: Holder, bytes: number): boolean {
    const old = this.#shares.get(holder)
    if (holder.isOver) return false
    if (!old && holder.least + bytes <= this.#limits.smallPart) return true
    const isTurn = old?.task?.isRunning === true && !old.task.isWork
    this.#set(holder, {
      bytes: holder.least + bytes,
      hasBegun: isTurn,
      isList: old?.isList ?? false,
      progress: performance.now(),
      began: isTurn ? old.began : undefined,
    })
    if (!isTurn) this.#large.delete(holder)
    this.#works.delete(holder)
    this.#dropOldest(holder)
    this.#goOn()
    return this.#shares.has(holder)
  }

  /**
   * Calls `go` when it is the turn of `holder`, which may then take `bytes`, and must call `hold`: a few holders in
   * each turn of the event loop, the oldest first. The first turn comes when there is room.
   */
  next(holder: Holder, bytes: number, go: () => void): void {
    this.#wait(holder, { isWork: false, bytes, go, isRunning: false })
    this.#dropOldest(holder)
    this.#takeTurns()
  }

  /**
   * Calls `go` when there is room for work that takes `bytes`, for the smallest work first. The client has sent its
   * part, so the holder is not dropped. Serves other requests between pieces of work.
   */
  work(holder: Holder, bytes: number, go: () => void): void {
    if (bytes <= this.#limits.smallPart) return go()
    this.#wait(holder, { isWork: true, bytes, go, isRunning: false })
    if (!holder.isOver) this.#works.add(holder)
    this.#beginWork()
  }

  /** The request is over: `holder` takes nothing any more. */
  end(holder: Holder): void {
    holder.isOver = true
    this.#delete(holder)
  }

  #wait(holder: Holder, task: Task): void {
    if (holder.isOver) return
    const { bytes = holder.least, hasBegun = false, began } = this.#shares.get(holder) ?? {}
    const isList = task.bytes > this.#limits.longPart
    this.#set(holder, { bytes, hasBegun, isList, progress: performance.now(), began, task })
    this.#large.add(holder)
  }

  #set(holder: Holder, share: Share): void {
    const old = this.#shares.get(holder)
    this.#shares.delete(holder) // so that it comes last
    this.#shares.set(holder, share)
    this.#count(old, -1)
    this.#count(share, 1)
  }

  #count(share: Share | undefined, sign: 1 | -1): void {
    if (!share) return
    this.#total += sign * share.bytes
    if (share.hasBegun) this.#begun[kindOf(share)] += sign * share.bytes
    if (share.task?.isWork && share.task.isRunning) this.#working += sign * share.task.bytes
  }

  #delete(holder: Holder): void {
    this.#count(this.#shares.get(holder), -1)
    if (!this.#shares.delete(holder)) return
    this.#large.delete(holder)
    this.#works.delete(holder)
    this.#goOn()
  }

  /** Drops holders that wait for their clients, the one without progress for the longest time first. */
  #drop(mayDrop: (share: Share, holder: Holder) => boolean): void {
    for (const [holder, share] of this.#shares) {
      if (!mayDrop(share, holder) || holder.isBusy()) continue
      this.#delete(holder)
      holder.giveUp()
    }
  }

  #goOn(): void {
    this.#beginWork()
    this.#takeTurns()
  }

  /** While the budget is overdrawn, drops others than `newcomer`, and then also those that wait for room. */
  #dropOldest(newcomer: Holder): void {
    const isFull = () => this.#total > this.#limits.memory
    if (isFull()) this.#drop(({ task }, holder) => isFull() && !task && holder !== newcomer)
    if (isFull())
      this.#drop(({ task, hasBegun }) => isFull() && !task?.isWork && !(task && hasBegun))
  }

  #takeTurns(): void {
    if (this.#isTakingTurns || this.#large.size === 0) return
    this.#isTakingTurns = true
    setImmediate(() => {
      this.#isTakingTurns = false
      let left = this.#limits.turns
      for (const holder of this.#large) {
        const share = this.#shares.get(holder)!
        const { task, hasBegun } = share
        if (!task || task.isWork || task.isRunning) continue
        if (!hasBegun && this.#begun[kindOf(share)] >= this.#limits.begun) {
          this.#waitForRoom()
          continue
        }
        if (left === 0) return this.#takeTurns()
        left -= 1
        this.#set(holder, {
          ...share,
          bytes: holder.least + task.bytes,
          hasBegun: true,
          began: share.began ?? performance.now(),
          task: { ...task, isRunning: true },
        })
        task.go()
      }
    })
  }

  /**
   * While others wait, drops requests that hold more than a fair share and whose clients stall, or take too long in all.
   * The more a request holds, the sooner it is dropped.
   */
  #waitForRoom(): void {
    if (this.#isWaitingForRoom) return
    this.#isWaitingForRoom = true
    const { begun, patience } = this.#limits
    setTimeout(() => {
      this.#isWaitingForRoom = false
      const now = performance.now()
      const isFull = { body: this.#begun.body >= begun, list: this.#begun.list >= begun }
      const count = { body: 0, list: 0 }
      for (const holder of this.#large) count[kindOf(this.#shares.get(holder)!)] += 1
      this.#drop((share) => {
        const { bytes, task, hasBegun, progress, began = Infinity } = share
        if (task || !hasBegun || !isFull[kindOf(share)]) return false
        const fair = begun / count[kindOf(share)]
        const isStalled = progress <= now - patience * (fair / bytes)
        return bytes > fair && (isStalled || began <= now - 4 * patience)
      })
      this.#takeTurns()
    }, patience / 32).unref()
  }

  #beginWork(): void {
    const { work, slice } = this.#limits
    while (this.#works.size > 0 && this.#slice < slice) {
      const holder = this.#smallestWork()
      const share = this.#shares.get(holder)!
      const task = share.task!
      if (this.#working > 0 && this.#working + task.bytes > work) return
      this.#works.delete(holder)
      this.#slice += task.bytes
      if (this.#slice >= slice) void this.#pause()
      this.#set(holder, { ...share, hasBegun: true, task: { ...task, isRunning: true } })
      task.go()
    }
  }

  #smallestWork(): Holder {
    const bytesOf = (holder: Holder) => this.#shares.get(holder)!.task!.bytes
    return [...this.#works].reduce((a, b) => (bytesOf(b) < bytesOf(a) ? b : a))
  }

  async #pause(): Promise<void> {
    await letOthersIn()
    this.#slice = 0
    this.#beginWork()
  }
}

const kindOf = ({ isList }: Share) => (isList ? 'list' : 'body')
