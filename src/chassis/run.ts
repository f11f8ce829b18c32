// The service from start to end: it opens the store and the servers, waits for a signal, and closes them in
// reverse order.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from './app.ts'
import type { Config, Variables } from './config.ts'
import { hostCheck, isLoopback } from './http/hosts.ts'
import { createServer } from './http/server.ts'
import type { Service, Tools } from './service.ts'
import { createReadiness } from './ops/readiness.ts'
import { createOperatorServer } from './ops/operator-server.ts'
import { createLogger } from './telemetry/log.ts'
import { measure } from './telemetry/measure.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { createRequestLog } from './telemetry/request-log.ts'
import type { Tracing } from './telemetry/tracing.ts'

/**
 * Runs a service until `stop`, and stops it. Then the process can exit: what was not in time is cut off.
 *
 * @param stop resolves to the name of a signal
 */
export async function run<Operations, Own extends Variables, Caller>(
  service: Service<Operations, Own, Caller>,
  config: Config<Own>,
  redactPath: (url: string) => string,
  stop: Promise<string>,
  tracing?: Tracing,
): Promise<void> {
  const { contract } = service
  const { name, document } = contract.contents()
  const { version } = document.info
  const metrics = createMetrics(name.replaceAll('-', '_'), version)
  metrics.maxConnections(config.MAX_CONNECTIONS)
  const log = createLogger(config.LOG_LEVEL, metrics.logLineDropped)
  if (tracing) tracing.log = log
  log.info(`${name} ${version} on Node ${process.version}`)
  for (const warning of config.warnings) log.warn(warning)
  const readiness = createReadiness(log)
  // Before the store is open: probes then see a service that starts, and not one that hangs.
  const operator = createOperatorServer(readiness, metrics, config.ALLOWED_HOSTS)
  await listen(operator.server, config.OPS_HOST, config.OPS_PORT, 'OPS_HOST (or HOST) and OPS_PORT')

  const tools: Tools = { log, measure: (store, methods) => measure(store, methods, metrics) }
  const opened = await Promise.race([service.open(config, tools), stop])
  if (typeof opened === 'string') return log.info(`${opened}: stopped before the service was open`)
  const { store, onListening, ...parts } = opened
  metrics.storeIs(store.description)
  const app = createApp(contract, parts, config.DOCS, config.BASE_PATH)
  const requestLog = createRequestLog({ log, metrics, redactPath })
  app.on('error', requestLog.onFailure)
  const { server, drain, close } = createServer(app.callback(), {
    observer: requestLog,
    hostCheck: (bound) => hostCheck(bound, config.ALLOWED_HOSTS),
    bodyLimit: config.BODY_LIMIT,
    limits: { maxConnections: config.MAX_CONNECTIONS },
  })
  await listen(server, config.HOST, config.PORT, 'HOST and PORT')
  const check = async () => {
    const oldest = await readiness.check(store)
    if (oldest !== undefined) metrics.oldestRecord(oldest)
    setTimeout(() => void check(), CHECK_MS).unref()
    return oldest
  }
  const oldest = await Promise.race([check(), stop.then(() => undefined)])

  const url = urlOf(server)
  log.info(`listening on ${url}`)
  if (config.DOCS) log.info(`try it at ${url}${config.BASE_PATH}/docs`)
  const { address } = server.address() as AddressInfo
  onListening?.({ oldest, isPublic: !isLoopback(address) && config.ALLOWED_HOSTS.length === 0 })
  log.info(`/livez, /readyz and /metrics are on ${urlOf(operator.server)}`)

  const signal = await stop
  log.info(`${signal} while ${readiness.status().state}: finishing the requests in flight`)
  readiness.stopping()
  drain()
  await sleep(config.STOP_DELAY) // load balancers take a moment to notice
  const isCutOff = await close(config.STOP_TIMEOUT * 0.8) // the rest is for the store and the traces
  if (isCutOff) log.warn('STOP_TIMEOUT is over: requests in flight were cut off')
  const closed = store
    .close()
    .catch((err: unknown) => log.warn({ err }, 'closing the store failed'))
  const end = sleep(config.STOP_TIMEOUT * 0.2, true)
  const isLate = await Promise.race([Promise.all([closed, tracing?.stop()]).then(() => false), end])
  if (isLate) log.warn('STOP_TIMEOUT is over: the store was not closed, or traces were not sent')
  log.info('stopped')
}

/** How often the store is checked, in milliseconds: the log and the metrics tell of an outage even without requests. */
const CHECK_MS = 1_000

/** @param variables the names of those that set `host` and `port` */
async function listen(server: Server, host: string, port: number, variables: string) {
  try {
    await once(server.listen({ port, host, backlog: BACKLOG }), 'listening')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const hint = code === 'EADDRINUSE' ? ' (PORT and OPS_PORT must differ)' : ''
    throw new Error(`cannot listen on ${variables}: ${message}${hint}`, { cause: error })
  }
}

/** How many connections can wait to be accepted; the kernel makes others try again after a second. */
const BACKLOG = 4_096

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
