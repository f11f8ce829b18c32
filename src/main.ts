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

const NO_USERS =
  'no users yet: the program create-user makes one, with the same variables (README.md, "First calls")'

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
