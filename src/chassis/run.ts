// The service from start to end: it opens the store and the servers, waits for a signal, and closes them in
// reverse order.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type Koa from 'koa'
import { createApp } from './app.ts'
import type { Config } from './config/config.ts'
import type { Variables } from './config/validators.ts'
import { hostCheck } from './http/hosts.ts'
import { createServer } from './http/server.ts'
import type { Service, Store, Tools } from './service.ts'
import { createReadiness, type Readiness } from './ops/readiness.ts'
import { createOperatorServer } from './ops/operator-server.ts'
import { createLogger, type Logger } from './telemetry/log.ts'
import { measure } from './telemetry/measure.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { createRequestLog, type RequestLog } from './telemetry/request-log.ts'
import type { Tracing } from './telemetry/tracing.ts'

/**
 * Runs a service until `stop`, and stops it. Then the process can exit: what was not in time is cut off.
 *
 * @param stop resolves to the name of a signal
 * @param onLog gets the log as soon as there is one
 */
export async function run<Operations, Own extends Variables, Caller>(
  service: Service<Operations, Own, Caller>,
  config: Config<Own>,
  redactPath: (url: string) => string,
  stop: Promise<string>,
  onLog: (log: Logger) => void,
  tracing?: Tracing,
): Promise<void> {
  const { name, document } = service.contract.contents()
  const { version } = document.info
  const metrics = createMetrics(name.replaceAll('-', '_'), version)
  metrics.maxConnections(config.MAX_CONNECTIONS)
  const log = createLogger(config.LOG_LEVEL, metrics.logLineDropped)
  onLog(log)
  log.info(`${name} ${version} on Node ${process.version}`)
  const readiness = createReadiness(log)
  // Before the store is open: probes then see a service that starts, and not one that hangs.
  const operator = createOperatorServer(readiness, metrics, config.ALLOWED_HOSTS)
  await listen(operator.server, config.OPS_HOST, config.OPS_PORT, 'OPS_HOST (or HOST) and OPS_PORT')

  const tools: Tools = { log, measure: (store, methods) => measure(store, methods, metrics) }
  const opened = await Promise.race([service.open(config, tools), stop])
  if (typeof opened === 'string') return log.info(`${opened}: stopped before the service was open`)
  const { store, onListening } = opened
  metrics.storeIs(store.description)
  const app = createApp(service.contract, opened, config.DOCS, config.BASE_PATH)
  const http = serverOf(app, config, createRequestLog({ log, metrics, redactPath }))
  await listen(http.server, config.HOST, config.PORT, 'HOST and PORT')
  const first = checkRepeatedly(store, readiness, metrics)
  const oldest = await Promise.race([first, stop.then(() => undefined)])

  const url = urlOf(http.server)
  log.info(`listening on ${url}`)
  if (config.DOCS) log.info(`try it at ${url}${config.BASE_PATH}/docs`)
  onListening?.(oldest)
  log.info(`/livez, /readyz and /metrics are on ${urlOf(operator.server)}`)

  const signal = await stop
  log.info(`${signal} while ${readiness.status().state}: finishing the requests in flight`)
  readiness.stopping()
  http.drain()
  await sleep(config.STOP_DELAY) // load balancers take a moment to notice
  const requestsMs = config.STOP_TIMEOUT * 0.8 // the rest is for the store and the traces
  const isCutOff = await http.close(requestsMs)
  if (isCutOff) log.warn('STOP_TIMEOUT is over: requests in flight were cut off')
  await closeStore(store, config.STOP_TIMEOUT - requestsMs, log, tracing)
  log.info('stopped')
}

/** The public server. It does not listen yet. */
function serverOf(app: Koa, config: Config<Variables>, requestLog: RequestLog) {
  app.on('error', requestLog.onFailure)
  return createServer(app.callback(), {
    observer: requestLog,
    hostCheck: (bound) => hostCheck(bound, config.ALLOWED_HOSTS),
    bodyLimit: config.BODY_LIMIT,
    limits: { maxConnections: config.MAX_CONNECTIONS },
  })
}

/** Checks the store now and every second, for the log, the metrics and /readyz. @returns what the first check found */
async function checkRepeatedly(store: Store, readiness: Readiness, metrics: Metrics) {
  const oldest = await readiness.check(store)
  if (oldest !== undefined) metrics.oldestRecord(oldest)
  setTimeout(() => void checkRepeatedly(store, readiness, metrics), CHECK_MS).unref()
  return oldest
}

/** Closes the store and sends the last traces, in at most `timeoutMs`. */
async function closeStore(store: Store, timeoutMs: number, log: Logger, tracing?: Tracing) {
  const closed = Promise.resolve()
    .then(() => store.close())
    .catch((err: unknown) => log.warn({ err }, 'closing the store failed'))
  const all = Promise.all([closed, tracing?.stop()]).then(() => false)
  const isLate = await Promise.race([all, sleep(timeoutMs, true)])
  if (isLate) log.warn('STOP_TIMEOUT is over: the store was not closed, or traces were not sent')
}

/** How often the store is checked, in milliseconds: the log and the metrics then tell of an outage without requests, too. */
const CHECK_MS = 1_000

/** @param variables the names of those that set `host` and `port` */
async function listen(server: Server, host: string, port: number, variables: string) {
  try {
    await once(server.listen({ port, host, backlog: BACKLOG }), 'listening')
  } catch (error) {
    throw new Error(`cannot listen on ${variables}: ${(error as Error).message}`, { cause: error })
  }
}

/** How many connections can wait to be accepted; the kernel makes others try again after a second. */
const BACKLOG = 4_096

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
