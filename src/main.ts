// The users service: its contract, its variables, and what it is made of. The chassis runs it.
import { guard } from './auth/guard.ts'
import { openTokens, serve } from './chassis/index.ts'
import { variables } from './config.ts'
import { contract } from './contract.ts'
import { toHttpError } from './errors.ts'
import { login } from './login.ts'
import { redactPath } from './redact-path.ts'
import { openStore } from './store/open.ts'
import { users } from './users.ts'

/** The methods of the store to measure: those that requests use. */
const MEASURED = ['create', 'find', 'findByEmail', 'list', 'rename', 'remove'] as const

/** The image sets how its programs are called. */
const { CREATE_USER = 'npm run create-user --' } = process.env
const NO_USERS = `no users yet: with the same variables, run: ${CREATE_USER} --name Ada --email ada@example.com`

await serve({
  contract,
  variables,
  redactPath,
  async open(config, { log, measure }) {
    const store = await openStore(config, { warn: (text) => log.warn(text) })
    const tokens = await openTokens(config, log)
    const measured = measure(store, MEASURED)
    return {
      guard: guard(tokens),
      handlers: { ...users(measured, config.BASE_PATH), ...login(measured, tokens) },
      toHttpError,
      store,
      onListening(oldest) {
        log.info(`users are kept in ${store.description}`)
        if (oldest === null) log.info(NO_USERS)
      },
    }
  },
})
