// The metrics, for Prometheus (https://prometheus.io/docs/practices/naming/). Every label has a limited set
// of values: never a path, an id or a text.
import { StoreFailure } from '../failure.ts'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

export type StoreCall = (...args: unknown[]) => Promise<unknown>

/** The buckets of the histograms, in seconds: from a read in memory to a store that does not respond. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Of an operation of the contract. */
interface Documented {
  id: string
  method: string
  responses: object
}

/**
 * A registry of its own; nothing is global.
 *
 * @param service begins the names that other services could have, too
 * @param operations their documented responses are 0 at the start, so that Prometheus sees the first one as an increase
 */
export function createMetrics(service: string, version: string, operations: Documented[] = []) {
  const register = new Registry()
  const registers = [register]
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers })
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const histogram = (name: string, help: string, labelNames: string[]) =>
    new Histogram({ name, help, labelNames, buckets: SECONDS, registers })

  collectDefaultMetrics({ register }) // process_* and nodejs_*: memory, event loop, garbage collection
  gauge(`${service}_build_info`, 'Always 1, with the version.', ['version']).set({ version }, 1)
  const ready = gauge(`${service}_ready`, '1 while /readyz returns 200, else 0.')
  const storeInfo = gauge('store_info', 'Always 1, with the database.', ['database'])
  const oldest = gauge(
    'store_oldest_record_timestamp_seconds',
    'When the oldest record was created; +Inf if there is none, NaN until the store responds.',
  )
  oldest.set(NaN)
  const requests = histogram(
    'http_request_duration_seconds',
    'Time from a request to the end of its response, by operationId.',
    ['operation', 'method', 'status'],
  )
  for (const { id: operation, method, responses } of operations)
    for (const status of Object.keys(responses).filter((key) => /^\d+$/.test(key)))
      requests.zero({ operation, method: method.toUpperCase(), status })
  const inFlight = gauge('http_requests_in_flight', 'Requests that are being served.')
  const connections = gauge('http_connections', 'Connections, open or with a handler at work.')
  const maxConnections = gauge('http_connections_limit', 'The most connections at a time.')
  const drops = counter(
    'http_connections_dropped_total',
    'Connections closed at the limit: idle ones evicted for new ones, or new ones refused.',
    ['reason'],
  )
  for (const reason of ['evicted', 'refused']) drops.inc({ reason }, 0)
  const abandoned = counter(
    'http_handlers_abandoned_total',
    'Handlers that did not end after their client had left, by operationId, or `guard`.',
    ['operation'],
  )
  for (const operation of ['guard', ...operations.map(({ id }) => id)])
    abandoned.inc({ operation }, 0)
  const refusals = counter('tokens_refused_total', 'Requests that the guard refused.', ['reason'])
  for (const reason of ['missing', 'invalid', 'expired', 'premature']) refusals.inc({ reason }, 0)
  const lostLines = counter('log_lines_dropped_total', 'Lines of the log that were not written.')
  const storeCalls = histogram(
    'store_operation_duration_seconds',
    'Time until the store responded or failed; each page of a list counts.',
    ['operation'],
  )
  const storeFailures = counter(
    'store_operation_failures_total',
    'Calls of the store that failed. A record that is refused does not count.',
    ['operation'],
  )

  return {
    requestBegun: () => inFlight.inc(),
    requestEnded(labels: { operation: string; method: string; status: string }, seconds: number) {
      inFlight.dec()
      requests.observe(labels, seconds) // Node's parser knows 35 methods, and refuses all others
    },
    /** The guard refused a request. */
    refused: (reason: string) => refusals.inc({ reason }),
    connections: (count: number) => connections.set(count),
    maxConnections: (limit: number) => maxConnections.set(limit),
    connectionDropped: (reason: 'evicted' | 'refused') => drops.inc({ reason }),
    handlerAbandoned: (operation: string) => abandoned.inc({ operation }),
    logLineDropped: () => lostLines.inc(),
    /** Returns a function that measures one call of an operation of the store, until it has settled. */
    storeOperation(operation: string) {
      const calls = storeCalls.labels(operation)
      const failures = storeFailures.labels(operation)
      failures.inc(0) // so that Prometheus sees the first failure as an increase
      return async (call: StoreCall, store: object, args: unknown[]) => {
        const start = performance.now()
        try {
          return await call.apply(store, args)
        } catch (error) {
          if (error instanceof StoreFailure) failures.inc()
          throw error
        } finally {
          calls.observe((performance.now() - start) / 1000) // startTimer() takes longer
        }
      }
    },
    ready: (isReady: boolean) => ready.set(Number(isReady)),
    /** @param database has no credentials */
    storeIs: (database: string) => storeInfo.set({ database }, 1),
    oldestRecord: (date: Date | null) => oldest.set(date ? Number(date) / 1000 : Infinity),
    /** What /metrics shows: its media type and its text. */
    expose: async () => ({ type: register.contentType, text: await register.metrics() }),
  }
}
