// Gathers the calls of one turn of the event loop, so that a store can do them together.

/** Is told of each batch: what it does, and the number of calls in it. */
export type BatchObserver = (operation: string, size: number) => void

interface Call<In, Out> {
  item: In
  resolve: (value: Out) => void
  reject: (error: unknown) => void
}

/**
 * A function of one item that is done for many at once. Calls of one turn are passed to `run`
 * together, at the end of that turn: nobody waits for others, and what a call sees is at least as
 * new as the call.
 *
 * @param limit the most items for one run
 * @param run its outcomes in the order of the items; an `Error` fails the one call that it belongs
 * to, a rejection fails all
 * @param onRun is told the number of items of each run
 */
export function batched<In, Out>(
  limit: number,
  run: (items: In[]) => Promise<(Out | Error)[]>,
  onRun: (size: number) => void = () => {},
): (item: In) => Promise<Out> {
  let waiting: Call<In, Out>[] = []

  async function flush(): Promise<void> {
    const calls = waiting
    waiting = []
    try {
      onRun(calls.length)
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
      if (waiting.length === 0) setImmediate(() => waiting.length > 0 && void flush())
      waiting.push({ item, resolve, reject })
      if (waiting.length === limit) void flush()
    })
}
