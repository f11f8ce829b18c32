// Collects the calls of one turn of the event loop, so that a store can do them together.

/** Called for each batch: what the batch does, and the number of calls in it. */
export type BatchObserver = (operation: string, size: number) => void

interface Call<In, Out> {
  item: In
  resolve: (value: Out) => void
  reject: (error: unknown) => void
}

interface Options<In> {
  /** The most items in one run. */
  most: number
  /** Whether an item is so long that it gets a run of its own, which starts at once. */
  isLong?: (item: In) => boolean
  /** Called with the number of items in each run. */
  onBatch: (size: number) => void
}

/**
 * Returns a function that takes one item. All its calls in one turn of the event loop go to `run` together,
 * at the end of that turn: no call waits for an earlier run, and each run sees what was written before it.
 *
 * @param run returns the outcomes in the order of the items. An `Error` among them fails only its own
 * call; a rejection fails all calls of the run.
 */
export function batched<In, Out>(
  run: (items: In[]) => Promise<(Out | Error)[]>,
  { most, isLong = () => false, onBatch }: Options<In>,
): (item: In) => Promise<Out> {
  let waiting: Call<In, Out>[] = []

  function flush(): void {
    if (waiting.length > 0) void settle(waiting)
    waiting = []
  }

  async function settle(calls: Call<In, Out>[]): Promise<void> {
    try {
      onBatch(calls.length)
      const outcomes = await run(calls.map(({ item }) => item))
      for (const [i, { resolve, reject }] of calls.entries()) {
        const outcome = outcomes[i] as Out | Error
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
    } catch (error) {
      for (const { reject } of calls) reject(error)
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const call = { item, resolve, reject }
      if (isLong(item)) return void settle([call])
      if (waiting.length === 0) setImmediate(flush)
      waiting.push(call)
      if (waiting.length === most) flush()
    })
}
