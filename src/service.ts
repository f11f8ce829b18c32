// The service from start to end: it opens the store and the servers, waits for a signal, and closes them in
// reverse order.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from './app.ts'
import { openSecrets } from './auth/signing-secret.ts'
import { createTokens } from './auth/tokens.ts'
import type { Config } from './config.ts'
import { contract } from './contract/document.ts'
import { Budget } from './http/budget.ts'
import { hostCheck } from './http/hosts.ts'
import { createServer, type HttpServer } from './http/server.ts'
import { createReadiness } from './operator/readiness.ts'
import { createOperatorServer } from './operator/server.ts'
import { openStore } from './store/open.ts'
import type { UserStore } from './store/user-store.ts'
import { createLogger, type Logger } from './telemetry/log.ts'
import { measured } from './telemetry/measured-store.ts'
import { createMetrics, type Metrics } from './telemetry/metrics.ts'
import { createRequestLog } from './telemetry/request-log.ts'

/** Runs the service until a signal stops it. */
export async function run(config: Config): Promise<void> {
  const stop = stopSignal() // first: without a handler, process 1 of a container ignores signals
  const { version } = contract.info
  const metrics = createMetrics(version)
  const log = createLogger(config.logLevel, metrics.logLineDropped)
  log.info(`users-service ${version} on Node ${process.version}`)
  const readiness = createReadiness((err) => {
    if (err) log.warn({ err }, 'the store cannot be reached')
    else log.info('the store responds')
  })
  const operator = createOperatorServer(
    readiness,
    metrics,
    hostCheck(config.opsHost, config.allowedHosts),
  )
  const hostName = config.opsHost === config.host ? 'HOST' : 'OPS_HOST' // by default it is HOST
  await listen(operator.server, { [hostName]: config.opsHost, OPS_PORT: config.opsPort })

  const store = await openStore(config, metrics.storeBatch, true)
  const service = createService(config, store, { log, metrics })
  await listen(service.server, { HOST: config.host, PORT: config.port })
  const isEmpty = await readiness.started(store)

  const url = urlOf(service.server)
  log.info(`listening on ${url}`)
  if (config.docs) log.info(`a page to try it is at ${url}/docs`)
  log.info(`users are kept in ${store.description}`)
  log.info(`/livez, /readyz and /metrics are on ${urlOf(operator.server)}`)
  if (isEmpty) {
    log.info('no users yet; node dist/scripts/create-user.js --name Ada --email ada@example.com')
  }

  const signal = await Promise.race([stop, readiness.wait(store).then(() => stop)])
  readiness.stopping()
  log.info(`${signal}: finishing the requests in flight`)
  service.drain()
  await sleep(config.stopDelay) // load balancers take a moment to notice
  await service.close(config.stopTimeout)
  await store.close().catch((error: unknown) => log.warn({ err: error }, 'the store did not close'))
  log.info('stopped')
}

/** The public server with the app in it. It does not listen yet. */
function createService(
  config: Config,
  store: UserStore,
  telemetry: { log: Logger; metrics: Metrics },
): HttpServer {
  const { bodyLimit, docs } = config
  const tokens = createTokens(openSecrets(config), config.tokenTtl)
  const memory = new Budget()
  const app = createApp({
    store: measured(store, telemetry.metrics),
    tokens,
    bodyLimit,
    docs,
    memory,
  })
  const requestLog = createRequestLog(telemetry)
  app.on('error', requestLog.failure)
  const handle = app.callback()
  return createServer((request, response) => void handle(request, response), {
    observer: requestLog,
    memory,
    isHere: hostCheck(config.host, config.allowedHosts),
  })
}

/** @param address the host, then the port, by the names of their variables */
async function listen(server: Server, address: Record<string, string | number>): Promise<void> {
  const [host, port] = Object.values(address) as [string, number]
  try {
    await once(server.listen({ port, host, backlog: BACKLOG }), 'listening')
  } catch (error) {
    const { message } = error as Error
    const where = Object.entries(address).map((variable) => variable.join(' '))
    throw new Error(`cannot listen on ${where.join(', ')}: ${message}`, { cause: error })
  }
}

/** How many connections can wait to be accepted; the kernel makes others try again after a second. */
const BACKLOG = 4_096

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Resolves at the first SIGTERM or SIGINT. A second one ends the process at once. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first: number | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      first ??= performance.now()
      // With `npm start`, one Ctrl-C arrives twice: from the terminal and from npm.
      if (performance.now() - first > 50) process.exit(1)
      resolve(signal)
    }
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  })
}
