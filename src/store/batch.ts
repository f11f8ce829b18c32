// Collects calls that come at about the same time, so that a store can do them together.
import { StoreFailure } from './user-store.ts'

/** Called for each batch: what the batch does, and the number of calls in it. */
export type BatchObserver = (operation: string, size: number) => void

/** One call, for its run to settle. */
export interface Call<In, Out> {
  item: In
  resolve: (value: Out | Promise<Out>) => void
  reject: (error: unknown) => void
}

interface Options {
  /** The most items in one run. */
  most: number
  /** The most runs at a time; then calls wait for the end of a run. */
  runs?: number
  /** Called with the number of items in each run. */
  onBatch: (size: number) => void
}

/**
 * Returns a function that takes one item. Its calls of two turns of the event loop go to `run` together, at the
 * end of the second, so that each run sees what was written before it.
 *
 * @param run settles each of its calls; when it rejects, those that are left fail, and so do the calls that
 * wait for it: they would only wait for the same failure once more
 */
export function batched<In, Out>(
  run: (calls: Call<In, Out>[]) => Promise<void>,
  { most, runs = Infinity, onBatch }: Options,
): (item: In) => Promise<Out> {
  const waiting: Call<In, Out>[] = []
  let running = 0

  function flush(): void {
    while (waiting.length > 0 && running < runs) void settle(waiting.splice(0, most))
  }

  async function settle(calls: Call<In, Out>[]): Promise<void> {
    running += 1
    try {
      onBatch(calls.length)
      await run(calls)
    } catch (error) {
      const stuck = running < runs ? [] : waiting.splice(0)
      for (const { reject } of [...calls, ...stuck]) reject(error)
    }
    running -= 1
    flush()
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      // Two turns: requests that arrived during the last run join. With 8 clients, a transaction of SQLite has
      // 7.5 writes instead of 4, and a POST takes a quarter less time (`npm run bench`).
      if (waiting.length === 1) setImmediate(() => setImmediate(flush))
    })
}

/**
 * Returns a function that takes one item. At most `runs` of its calls go to `run` at a time. While the store is away, a
 * call that fails also fails those that wait for it.
 *
 * @param pause awaited after each call, before the next one takes its place
 */
export const atMost = <In, Out>(
  runs: number,
  run: (item: In) => Promise<Out>,
  pause = async () => {},
): ((item: In) => Promise<Out>) =>
  batched(
    async ([call]) => {
      const outcome = run(call!.item)
      call!.resolve(outcome)
      await outcome.catch((error) => {
        if (error instanceof StoreFailure && !error.isFinal) throw error
      })
      await pause()
    },
    { most: 1, runs, onBatch() {} },
  )

/** Makes a run of a function that returns the outcomes of all items. */
export const outcomes =
  <In, Out>(run: (items: In[]) => Promise<(Out | Error)[]>) =>
  async (calls: Call<In, Out>[]): Promise<void> =>
    settleEach(calls, await run(calls.map(({ item }) => item)))

/** Settles calls, each with its outcome. An `Error` among them fails its own call only. */
export function settleEach<In, Out>(calls: Call<In, Out>[], all: (Out | Error)[]): void {
  for (const [i, { resolve, reject }] of calls.entries()) {
    const outcome = all[i] as Out | Error
    if (outcome instanceof Error) reject(outcome)
    else resolve(outcome)
  }
}
