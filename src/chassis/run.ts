// The service from start to end: it opens the store and the servers, waits for a signal, and closes them in
// reverse order.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type Koa from 'koa'
import type { DestinationStream } from 'pino'
import { createApp } from './app.ts'
import type { Config } from './config/config.ts'
import type { Variables } from './config/validators.ts'
import { readPage } from './docs/reference.ts'
import { hostCheck } from './http/hosts.ts'
import { createServer } from './http/server.ts'
import type { Service, Store, Tools } from './service.ts'
import { createReadiness, type Readiness } from './ops/readiness.ts'
import { createOperatorServer } from './ops/operator-server.ts'
import { createLogger, type Logger } from './telemetry/log.ts'
import { measure } from './telemetry/measure.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { createRequestLog, type RequestLog } from './telemetry/request-log.ts'
import { pathRedactor } from './telemetry/path-redactor.ts'
import type { SpanOptions } from './telemetry/spans.ts'
import type { Tracing } from './telemetry/tracing.ts'

interface Options {
  /** Gets the log, in place of standard output. */
  output?: DestinationStream
  /** Called with the log as soon as there is one. */
  onLog?: (log: Logger) => void
  /** Called when the service is open: a client may be there from now on. */
  onOpen?: () => void
  /** Called with the URLs of the service and of its port for operators when both listen. */
  onListening?: (url: string, opsUrl: string) => void
}

/**
 * Runs a service until `stop`, and stops it. Then nothing is open, also after an error: what was not in time is cut off.
 *
 * @param stop resolves to the name of a signal
 */
export async function run<Operations, Own extends Variables, Caller>(
  service: Service<Operations, Own, Caller>,
  config: Config<Own>,
  stop: Promise<string>,
  { output, onLog, onOpen, onListening }: Options,
): Promise<void> {
  const { name, document, operations } = service.contract.contents()
  const { version } = document.info
  const paths = operations.map(({ path }) => path)
  const redactPath = pathRedactor(paths, config.BASE_PATH, service.redactPath)
  const metrics = createMetrics(name.replaceAll('-', '_'), version, operations)
  metrics.maxConnections(config.MAX_CONNECTIONS)
  const log = createLogger(config.LOG_LEVEL, metrics.logLineDropped, output)
  onLog?.(log)
  log.info(`${name} ${version} on Node ${process.version}`)
  const tracing = await tracingOf({ ...config, name, operations, redactPath }, log)
  const readiness = createReadiness(log)
  /** What closes all that is open, in the order in which to do it. */
  const closers: (() => Promise<unknown>)[] = []
  try {
    // Before the store is open: probes then see a service that starts, and not one that hangs.
    const operator = createOperatorServer(readiness, metrics, config.ALLOWED_HOSTS)
    const { OPS_HOST, OPS_PORT } = config
    closers.unshift(() => operator.close(0))
    await listen(operator.server, OPS_HOST, OPS_PORT, 'OPS_HOST (or HOST) and OPS_PORT')

    const measured: Tools['measure'] = (store, methods) => measure(store, methods, metrics, tracing)
    const slow = setInterval(() => log.warn('`open` has not ended'), SLOW_MS).unref()
    const opening = service.open(config, { log: toolsLog(log), measure: measured })
    const opened = await Promise.race([opening, stop]).finally(() => clearInterval(slow))
    onOpen?.()
    if (typeof opened === 'string')
      return log.info(`${opened}: stopped before the service was open`)
    if (!Object(opened).store)
      throw new TypeError('`open` must return a guard, handlers and a store')
    const { store } = opened
    closers.unshift(() => closeStore(store, config.STOP_TIMEOUT * 0.2, log, tracing))
    metrics.storeIs(store.description)
    const page = config.DOCS ? readPage((text) => log.warn(text)) : undefined
    const app = createApp(service.contract, opened, page, config.BASE_PATH)
    const http = serverOf(app, config, createRequestLog({ log, metrics, redactPath }), tracing)
    closers.unshift(() => closeServer(http, config.STOP_TIMEOUT * 0.8, log))
    await listen(http.server, config.HOST, config.PORT, 'HOST and PORT')
    const checks = checkRepeatedly(store, readiness, metrics)
    closers.unshift(async () => checks.end())
    const oldest = await Promise.race([checks.first, stop.then(() => undefined)])

    const [url, opsUrl] = [urlOf(http.server), urlOf(operator.server)]
    log.info(`listening on ${url}`)
    if (page?.size) log.info(`try it at ${url}${config.BASE_PATH}/docs`)
    opened.onListening?.(oldest)
    log.info(`/livez, /readyz and /metrics are on ${opsUrl}`)
    onListening?.(url + config.BASE_PATH, opsUrl)

    const signal = await stop
    log.info(`${signal} while ${readiness.status().state}: finishing the requests in flight`)
    readiness.stopping()
    http.drain()
    await sleep(config.STOP_DELAY) // load balancers take a moment to notice
  } finally {
    for (const close of closers) await close()
  }
  log.info('stopped')
}

/** How often a line says that `open` has not ended, in milliseconds. */
const SLOW_MS = 10_000

/** What `open` gets: also as callbacks, without pino as `this`. */
const toolsLog = (log: Logger): Tools['log'] => ({
  info: (text) => log.info(text),
  warn: (text) => log.warn(text),
  error: (text) => log.error(text),
})

/** Starts traces if they have an endpoint. Without one, nothing of OpenTelemetry is loaded. */
async function tracingOf(options: Config<Variables> & SpanOptions, log: Logger) {
  const endpoint = options.OTEL_EXPORTER_OTLP_ENDPOINT ?? options.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  const { OTEL_TRACES_EXPORTER = '', OTEL_SDK_DISABLED = '' } = process.env
  if (!endpoint && /otlp/i.test(OTEL_TRACES_EXPORTER) && !/^true$/i.test(OTEL_SDK_DISABLED))
    log.warn('traces: OTEL_TRACES_EXPORTER is ignored without OTEL_EXPORTER_OTLP_ENDPOINT')
  if (!endpoint) return
  return (await import('./telemetry/tracing.ts')).startTracing(options, log)
}

/** The public server. It does not listen yet. */
function serverOf(app: Koa, config: Config<Variables>, requestLog: RequestLog, tracing?: Tracing) {
  app.on('error', requestLog.onFailure)
  const handle = app.callback()
  return createServer(tracing ? tracing.ofRequests(handle) : handle, {
    observer: requestLog,
    hostCheck: (bound) => hostCheck(bound, config.ALLOWED_HOSTS),
    bodyLimit: config.BODY_LIMIT,
    limits: { maxConnections: config.MAX_CONNECTIONS },
  })
}

/** Checks the store now and every second, for the log, the metrics and /readyz. */
function checkRepeatedly(store: Store, readiness: Readiness, metrics: Metrics) {
  const check = async () => {
    const oldest = await readiness.check(store)
    if (oldest !== undefined) metrics.oldestRecord(oldest)
    return oldest
  }
  const timer = setInterval(() => void check(), CHECK_MS).unref()
  return { first: check(), end: () => clearInterval(timer) }
}

/** Serves the requests in flight, for at most `timeoutMs`. The rest of STOP_TIMEOUT is for the store and the traces. */
async function closeServer(http: ReturnType<typeof serverOf>, timeoutMs: number, log: Logger) {
  const isCutOff = await http.close(timeoutMs)
  if (isCutOff) log.warn('STOP_TIMEOUT is over: requests in flight were cut off')
}

/** Closes the store and sends the last traces, in at most `timeoutMs`. */
async function closeStore(store: Store, timeoutMs: number, log: Logger, tracing?: Tracing) {
  const close = async () => store.close() // also if it throws at once
  const closed = close().catch((err: unknown) =>
    log.warn({ err: err ?? String(err) }, 'closing the store failed'),
  )
  const timer = new AbortController()
  const isLate = sleep(timeoutMs, true, { signal: timer.signal }).catch(() => false)
  await Promise.race([Promise.all([closed, tracing?.stop()]), isLate])
  timer.abort()
  if (await isLate) log.warn(LATE)
}

const LATE = 'STOP_TIMEOUT is over: the store was not closed, or traces were not sent'

/** How often the store is checked, in milliseconds: the log and the metrics then tell of an outage without requests, too. */
const CHECK_MS = 1_000

/** @param variables the names of those that set `host` and `port` */
async function listen(server: Server, host: string, port: number, variables: string) {
  try {
    const where = ALL_ADDRESSES.test(host) ? {} : { host } // Node then takes 0.0.0.0 where the kernel has no IPv6
    await once(server.listen({ port, ...where, backlog: BACKLOG }), 'listening')
  } catch (error) {
    throw new Error(`cannot listen on ${variables}: ${(error as Error).message}`, { cause: error })
  }
}

/** `::`, also with its zeros. */
const ALL_ADDRESSES = /^[0:]+$/

/** How many connections can wait to be accepted; the kernel makes others try again after a second. */
const BACKLOG = 4_096

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
