// The metrics, for Prometheus (https://prometheus.io/docs/practices/naming/). Every label has a limited set
// of values: never a path, an id or an email.
import { METHODS } from 'node:http'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export interface Metrics {
  /** A request has begun. */
  requestBegun: () => void
  /** Its response has ended. */
  requestEnded: (
    labels: { operation: string; method: string; status: string },
    seconds: number,
  ) => void
  /** The guard refused a request. */
  refused: (reason: string) => void
  /** A line of the log could not be written. */
  logLineDropped: () => void
  /** The meters of one operation of the store. */
  storeOperation: (operation: string) => {
    /** A call has ended, with or without success. */
    ended: (seconds: number) => void
    failed: () => void
  }
  /** The store has done `size` calls together. */
  storeBatch: (operation: string, size: number) => void
  /** What `ready` shows from now on. */
  ready: (isReady: boolean) => void
  /** What /metrics shows: its media type and its text. */
  expose: () => Promise<{ type: string; text: string }>
}

/** In seconds: from a read in memory to a store that does not respond. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const KNOWN_METHODS = new Set(METHODS)

/** A registry of its own; nothing is global. */
export function createMetrics(version: string): Metrics {
  const registers = [new Registry()]
  const [register] = registers as [Registry]
  collectDefaultMetrics({ register }) // process_* and nodejs_*: memory, event loop, garbage collection

  const build = new Gauge({
    name: 'build_info',
    help: 'Always 1. Its label is the version of the service.',
    labelNames: ['version'],
    registers,
  })
  build.set({ version }, 1)
  const ready = new Gauge({
    name: 'ready',
    help: '1 while /readyz returns 200, else 0.',
    registers,
  })
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to the end of its response, by operationId.',
    labelNames: ['operation', 'method', 'status'],
    buckets: BUCKETS,
    registers,
  })
  const inFlight = new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests that are being served.',
    registers,
  })
  const refusals = new Counter({
    name: 'tokens_refused_total',
    help: 'Requests that the guard refused.',
    labelNames: ['reason'],
    registers,
  })
  const drops = new Counter({
    name: 'log_lines_dropped_total',
    help: 'Lines of the log that could not be written.',
    registers,
  })
  const storeCalls = new Histogram({
    name: 'store_operation_duration_seconds',
    help: 'Time until the store responded or failed; for a list, until its first page.',
    labelNames: ['operation'],
    buckets: BUCKETS,
    registers,
  })
  const storeFailures = new Counter({
    name: 'store_operation_failures_total',
    help: 'Calls of the store that failed. A taken email does not count.',
    labelNames: ['operation'],
    registers,
  })

  const batches = new Histogram({
    name: 'store_batch_size',
    help: 'Calls that the store did together, such as the writes of one transaction.',
    labelNames: ['operation'],
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    registers,
  })

  return {
    requestBegun: () => inFlight.inc(),
    requestEnded({ operation, method, status }, seconds) {
      inFlight.dec()
      const known = KNOWN_METHODS.has(method) ? method : 'other'
      requests.observe({ operation, method: known, status }, seconds)
    },
    refused: (reason) => refusals.inc({ reason }),
    logLineDropped: () => drops.inc(),
    storeOperation(operation) {
      const calls = storeCalls.labels(operation)
      const failures = storeFailures.labels(operation)
      failures.inc(0) // so that Prometheus sees the first failure as an increase
      return { ended: (seconds) => calls.observe(seconds), failed: () => failures.inc() }
    },
    storeBatch: (operation, size) => batches.observe({ operation }, size),
    ready: (isReady) => ready.set(Number(isReady)),
    expose: async () => ({ type: register.contentType, text: await register.metrics() }),
  }
}
