// The service from start to end: it opens the store and the servers, waits for a signal, and closes them in
// reverse order.
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from './app.ts'
import { openSecrets } from './auth/signing-secret.ts'
import { createTokens } from './auth/tokens.ts'
import type { Config } from './config.ts'
import { contract } from './contract/contract.ts'
import { hostCheck, isLoopback } from './http/hosts.ts'
import { createServer } from './http/server.ts'
import { createReadiness } from './ops/readiness.ts'
import { createOperatorServer } from './ops/server.ts'
import { openStore } from './store/open.ts'
import type { UserStore } from './store/user-store.ts'
import { createLogger } from './telemetry/log.ts'
import { measure } from './telemetry/measured-store.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { redactPath } from './redact-path.ts'
import { createRequestLog } from './telemetry/request-log.ts'
import type { Tracing } from './telemetry/tracing.ts'

/**
 * Runs the service until `stop`, and stops it. Then the process can exit: what was not in time is cut off.
 *
 * @param stop resolves to the name of a signal
 */
export async function run(config: Config, stop: Promise<string>, tracing?: Tracing) {
  const { version } = contract.info
  const metrics = createMetrics(SERVICE, version)
  metrics.maxConnections(config.MAX_CONNECTIONS)
  const log = createLogger(config.LOG_LEVEL, metrics.logLineDropped)
  if (tracing) tracing.log = log
  log.info(`users-service ${version} on Node ${process.version}`)
  for (const warning of config.warnings) log.warn(warning)
  const readiness = createReadiness(log)
  const operator = createOperatorServer(readiness, metrics, config.ALLOWED_HOSTS)
  await listen(operator.server, config.OPS_HOST, config.OPS_PORT, 'OPS_HOST (or HOST) and OPS_PORT')

  const store = await openStore(config, {
    warn: (text) => log.warn(text),
    allowUnreachable: true,
  })
  metrics.storeIs(store.description)
  const service = createPublicServer(config, store, { log, metrics, redactPath })
  await listen(service.server, config.HOST, config.PORT, 'HOST and PORT')
  const check = async () => {
    const isEmpty = await readiness.check(store)
    if (isEmpty !== undefined) metrics.storeIsEmpty(isEmpty)
    setTimeout(() => void check(), CHECK_MS).unref()
    return isEmpty
  }
  const isEmpty = await check()

  const url = urlOf(service.server)
  log.info(`listening on ${url}`)
  const { address } = service.server.address() as AddressInfo
  if (!isLoopback(address) && config.ALLOWED_HOSTS.length === 0) log.warn(OPEN_TO_OTHERS)
  if (config.DOCS) log.info(`try it at ${url}${config.BASE_PATH}/docs`)
  log.info(`users are kept in ${store.description}`)
  log.info(`/livez, /readyz and /metrics are on ${urlOf(operator.server)}`)
  if (isEmpty) log.info(`no users yet; create one, with the same variables: ${CREATE_USER}`)

  const signal = await stop
  readiness.stopping()
  log.info(`${signal}: finishing the requests in flight`)
  service.drain()
  await sleep(config.STOP_DELAY) // load balancers take a moment to notice
  const isCutOff = await service.close(config.STOP_TIMEOUT * 0.8) // the rest is for the store and the traces
  if (isCutOff) log.warn('STOP_TIMEOUT is over: requests in flight were cut off')
  const closed = store
    .close()
    .catch((err: unknown) => log.warn({ err }, 'closing the store failed'))
  const end = sleep(config.STOP_TIMEOUT * 0.2, true)
  const isLate = await Promise.race([Promise.all([closed, tracing?.stop()]).then(() => false), end])
  if (isLate) log.warn('STOP_TIMEOUT is over: the store was not closed, or traces were not sent')
  log.info('stopped')
}

const OPEN_TO_OTHERS =
  'other machines can reach this address (HOST), and /login asks for no password: anyone who knows an email can log in'

/** How long to wait, in milliseconds, before the store is checked again. */
const CHECK_MS = 1_000

/** In the image, the program has a command of its own (Dockerfile). */
const PROGRAM = existsSync('/usr/local/bin/create-user') ? 'create-user' : 'npm run create-user --'
const CREATE_USER = `${PROGRAM} --name Ada --email ada@example.com`

/** The operations of the store that requests use. */
const MEASURED = ['create', 'find', 'findByEmail', 'list', 'rename', 'remove'] as const

/** Begins the names of metrics that other services could have, too. */
const SERVICE = contract.info.title.toLowerCase().replaceAll(' ', '_')

type Observers = Parameters<typeof createRequestLog>[0]

/** The server for users. It does not listen yet. */
function createPublicServer(config: Config, store: UserStore, observers: Observers) {
  const tokens = createTokens(openSecrets(config), config.TOKEN_TTL)
  const measured = measure(store, MEASURED, observers.metrics)
  const app = createApp(measured, tokens, config.DOCS, config.BASE_PATH)
  const requestLog = createRequestLog(observers)
  app.on('error', requestLog.onFailure)
  const handle = app.callback()
  return createServer(handle, {
    observer: requestLog,
    hostCheck: (bound) => hostCheck(bound, config.ALLOWED_HOSTS),
    bodyLimit: config.BODY_LIMIT,
    limits: { maxConnections: config.MAX_CONNECTIONS },
  })
}

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
