// The queue for everything that waits: it does calls of about the same time together, limits how many run at a time, and
// drops a call whose client has left before it began.
import { AsyncResource } from 'node:async_hooks'
import { Aborted, type Client } from './http/client.ts'

/** Who waits for a result. */
type Waiting = Pick<Client, 'hasLeft'>

interface Call<In, Out> {
  item: In
  client: Waiting | undefined
  context: AsyncResource
  resolve: (result: Out) => void
  reject: (error: unknown) => void
}

interface Options {
  /** The most calls in one batch. */
  maxBatchSize: number
  /** The most batches at a time; then calls wait for the end of one. */
  concurrency?: number
}

/** How often calls that wait are dropped if their client has left, in milliseconds. */
const SWEEP_MS = 50

/**
 * Returns a function that takes one item. Calls made within one or two turns of the event loop are passed to `run` as one
 * batch; with a `maxBatchSize` of 1, each call begins at once. A batch of one call runs in the async context of its caller;
 * a larger one has none.
 *
 * @param run returns a result for each item; an `Error` fails its own call only. When `run` rejects, its calls fail,
 * and so do those that wait for it (fail fast: the server has just timed out)
 */
export function batched<In, Out>(
  run: (items: In[]) => Promise<(Out | Error)[]>,
  { maxBatchSize, concurrency = Infinity }: Options,
): (item: In, client?: Waiting) => Promise<Out> {
  if (!(maxBatchSize >= 1 && concurrency >= 1))
    throw new RangeError('`maxBatchSize` and `concurrency` must be at least 1')
  let waiting: Call<In, Out>[] = []
  let running = 0
  let wasAlone = false // whether the last batch had one call
  const noContext = new AsyncResource('BATCH')
  const sweeper = setTimeout(flush, SWEEP_MS).unref()

  function flush(): void {
    waiting = waiting.filter(isWanted)
    while (waiting.length > 0 && running < concurrency) void start(waiting.splice(0, maxBatchSize))
    if (waiting.length > 0) sweeper.refresh()
  }

  async function start(calls: Call<In, Out>[]): Promise<void> {
    running += 1
    wasAlone = calls.length === 1
    try {
      const items = calls.map(({ item }) => item)
      const context = wasAlone ? calls[0]!.context : noContext
      const results = await context.runInAsyncScope(run, undefined, items)
      const isComplete = results.length === calls.length
      calls.forEach(({ resolve, reject }, i) => {
        const result = isComplete ? (results[i] as Out | Error) : new Error(INCOMPLETE)
        if (result instanceof Error) reject(result)
        else resolve(result)
      })
    } catch (error) {
      const blocked = running < concurrency ? [] : waiting.splice(0)
      for (const { reject } of [...calls, ...blocked]) reject(error)
    }
    running -= 1
    if (waiting.length > 0) flush()
  }

  function schedule(): void {
    if (waiting.length > 1) return
    if (maxBatchSize === 1) return flush()
    // Two turns: requests that arrived during the last batch join. With 8 clients, a transaction of SQLite has
    // 7.5 writes instead of 4, and a POST takes a quarter less time (`npm run bench`). With one client, one turn is
    // enough, and a PUT takes a twentieth less; but if several batches run at a time, a lone call can have company.
    const isOneTurn = wasAlone && concurrency === 1
    setImmediate(isOneTurn ? flush : () => setImmediate(flush))
  }

  return (item, client) =>
    new Promise((resolve, reject) => {
      const context = new AsyncResource('CALL')
      waiting.push({ item, client, context, resolve, reject })
      schedule()
    })
}

const INCOMPLETE = '`run` of a batch must return one result for each item'

/** Whether the client still waits. Otherwise its call fails. */
function isWanted({ client, reject }: Pick<Call<never, never>, 'client' | 'reject'>): boolean {
  if (!client?.hasLeft) return true
  reject(new Aborted('the client has left'))
  return false
}
