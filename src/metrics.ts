// What is measured, for Prometheus (https://prometheus.io/docs/practices/naming/). Every label has a
// bounded set of values: never a path, an id or an email.
import { METHODS } from 'node:http'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export interface Metrics {
  /** A request begins. @returns to be called with its end */
  request(): (end: { operation: string; method: string; status: string }) => void
  /** The guard refused a request. */
  refused(reason: string): void
  /** The store is asked. @returns to be called when it has answered, or failed */
  storeCall(operation: string): () => void
  /** The store failed. */
  storeFailed(operation: string): void
  /** The media type and the text of an exposition. */
  expose(): Promise<{ type: string; text: string }>
}

/** In seconds: from a look-up in memory to a store that is given up. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

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

  return {
    request() {
      const observe = requests.startTimer()
      inFlight.inc()
      return ({ operation, method, status }) => {
        observe({ operation, method: METHODS.includes(method) ? method : 'other', status })
        inFlight.dec()
      }
    },
    refused: (reason) => refusals.inc({ reason }),
    storeCall(operation) {
      storeFailures.inc({ operation }, 0) // so that the first failure is a rise
      return storeCalls.startTimer({ operation })
    },
    storeFailed: (operation) => storeFailures.inc({ operation }),
    expose: async () => ({ type: register.contentType, text: await register.metrics() }),
  }
}
