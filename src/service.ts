// The service from start to end: it opens the store and the servers, waits for a signal, and closes them in
// reverse order.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from './config.ts'
import { contract } from './contract/document.ts'
import { hostCheck } from './http/hosts.ts'
import { createReadiness } from './operator/readiness.ts'
import { createOperatorServer } from './operator/server.ts'
import { openStore } from './store/open.ts'
import { createLogger } from './telemetry/log.ts'
import { createMetrics } from './telemetry/metrics.ts'

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

  const [store, { createPublicServer, loadReaders }] = await Promise.all([
    openStore(config, metrics.storeBatch, true),
    import('./public-server.ts'), // while the store connects: with MongoDB the service starts 4 % sooner
  ])
  const service = createPublicServer(config, store, { log, metrics })
  await listen(service.server, { HOST: config.host, PORT: config.port })
  await loadReaders() // after `listen`: the first response comes a tenth sooner
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
