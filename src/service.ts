// The service from its start to its end: store and servers open; then a signal, and they close in
// reverse order.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { createLogger } from './telemetry/log.ts'
import { createMetrics } from './telemetry/metrics.ts'
import { createOpsServer } from './operator/server.ts'
import { createReadiness } from './operator/readiness.ts'
import { closeConnections, closeServer, createServer } from './http/server.ts'
import { openSecrets } from './auth/signing-secret.ts'
import { measured } from './telemetry/measured-store.ts'
import { openStore } from './store/open.ts'
import { createTokens } from './auth/tokens.ts'

/** Runs the service until a signal has stopped it. */
export async function run(config: Config): Promise<void> {
  const stop = stopSignal() // while it starts, too: as process 1 it would miss the signal otherwise
  const log = await createLogger(config.logLevel)
  const metrics = createMetrics()
  const readiness = createReadiness()
  const ops = createOpsServer(readiness, metrics)
  await listen(ops, config.host, config.opsPort)

  const store = await openStore(config, metrics.storeBatch)
  const tokens = createTokens(openSecrets(config), config.tokenTtl)
  const { bodyLimit, docs } = config
  const app = createApp({ store: measured(store, metrics), tokens, bodyLimit, docs })
  const server = createServer(app, { log, metrics })
  const empty = await store.isEmpty()
  await listen(server, config.host, config.port)
  readiness.started(store)

  const url = urlOf(server)
  log.info(`listening on ${url}`)
  if (docs) log.info(`a page to try it is at ${url}/docs`)
  log.info(`users are kept in ${store.description}`)
  log.info(`/livez, /readyz and /metrics are on ${urlOf(ops)}`)
  if (empty) {
    log.info('no users yet; node dist/scripts/create-user.js --name Ada --email ada@example.com')
  }

  const signal = await stop
  readiness.stopping()
  log.info(`${signal}: finishing what is in flight`)
  closeConnections(server)
  await sleep(config.stopDelay) // load balancers take a moment to notice
  await closeServer(server, config.stopTimeout)
  await store.close().catch((error: unknown) => log.warn({ err: error }, 'the store did not close'))
  log.info('stopped')
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    await once(server.listen(port, host), 'listening')
  } catch (error) {
    const { message } = error as Error
    throw new Error(`cannot listen on ${host}, port ${port}: ${message}`, { cause: error })
  }
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Resolves to the first SIGTERM or SIGINT. A second one ends the process at once. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let first: number | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      first ??= performance.now()
      // Under `npm start` one Ctrl-C arrives twice: from the terminal, and passed on by npm.
      if (performance.now() - first > 50) process.exit(1)
      resolve(signal)
    }
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  })
}
