// What is measured, for Prometheus (https://prometheus.io/docs/practices/naming/). Every label has a
// bounded set of values: never a path, an id or an email.
import { METHODS } from 'node:http'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export interface Metrics {
  /** A request begins. */
  requestBegun(): void
  /** Its answer has ended, after so many seconds. */
  requestEnded(end: { operation: string; method: string; status: string }, seconds: number): void
  /** The guard refused a request. */
  refused(reason: string): void
  /** What is measured of an operation of the store. */
  storeOperation(operation: string): {
    /** It has answered, or failed, after so many seconds. */
    ended: (seconds: number) => void
    failed: () => void
  }
  /** So many calls of the store were done together. */
  storeBatch: (operation: string, size: number) => void
  /** The media type and the text of an exposition. */
  expose(): Promise<{ type: string; text: string }>
}

/** In seconds: from a look-up in memory to a store that is given up. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const KNOWN_METHODS = new Set(METHODS)

/** Metrics of their own; nothing is global. */
export function createMetrics(): Metrics {
  const registers = [new Registry()]
  const [register] = registers as [Registry]
  collectDefaultMetrics({ register }) // process_* and nodejs_*: memory, event loop, garbage collection

  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to the end of its answer, by the operationId that it reached.',
    labelNames: ['operation', 'method', 'status'],
    buckets: BUCKETS,
    registers,
  })
  const inFlight = new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests that are being answered.',
    registers,
  })
  const refusals = new Counter({
    name: 'tokens_refused_total',
    help: 'Requests that the guard refused.',
    labelNames: ['reason'],
    registers,
  })
  const storeCalls = new Histogram({
    name: 'store_operation_duration_seconds',
    help: 'Time until the store answered or failed; of a list, until its first users.',
    labelNames: ['operation'],
    buckets: BUCKETS,
    registers,
  })
  const storeFailures = new Counter({
    name: 'store_operation_failures_total',
    help: 'Calls of the store that failed. An email that is taken is no failure.',
    labelNames: ['operation'],
    registers,
  })

  const batches = new Histogram({
    name: 'store_batch_size',
    help: 'Calls that the store did together: look-ups, inserts, or the writes of one transaction.',
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
    storeOperation(operation) {
      const calls = storeCalls.labels(operation)
      const failures = storeFailures.labels(operation)
      failures.inc(0) // so that the first failure is a rise
      return { ended: (seconds) => calls.observe(seconds), failed: () => failures.inc() }
    },
    storeBatch: (operation, size) => batches.observe({ operation }, size),
    expose: async () => ({ type: register.contentType, text: await register.metrics() }),
  }
}
