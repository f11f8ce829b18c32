// The public server with the app in it. Never listens, reads no environment.
import { createApp } from './app.ts'
import { openSecrets } from './auth/signing-secret.ts'
import { createTokens } from './auth/tokens.ts'
import type { Config } from './config.ts'
import { Budget } from './http/budget.ts'
import { hostCheck } from './http/hosts.ts'
import { createServer, type HttpServer } from './http/server.ts'
import type { UserStore } from './store/user-store.ts'
import type { Logger } from './telemetry/log.ts'
import { measured } from './telemetry/measured-store.ts'
import type { Metrics } from './telemetry/metrics.ts'
import { createRequestLog } from './telemetry/request-log.ts'

/** Loads body.ts and query.ts. A service that cannot load them must not become ready. */
export const loadReaders = () =>
  Promise.all([import('./contract/body.ts'), import('./contract/query.ts')])

export function createPublicServer(
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
