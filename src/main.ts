// The users service: its contract, its variables, and what it is made of. The chassis runs it.
import { existsSync } from 'node:fs'
import { guard } from './auth/guard.ts'
import { openTokens, serve } from './chassis/index.ts'
import { variables } from './config.ts'
import { contract } from './contract.ts'
import { toHttpError } from './errors.ts'
import { login } from './login.ts'
import { redactPath } from './redact-path.ts'
import { openStore } from './store/open.ts'
import { users } from './users.ts'

/** The methods of the store that requests use. */
const MEASURED = ['create', 'find', 'findByEmail', 'list', 'rename', 'remove'] as const

const OPEN_TO_OTHERS =
  'other machines can reach this address (HOST), and /login asks for no password: anyone who knows an email can log in'

/** In the image, the program has a command of its own (Dockerfile). */
const PROGRAM = existsSync('/usr/local/bin/create-user') ? 'create-user' : 'npm run create-user --'
const CREATE_USER = `${PROGRAM} --name Ada --email ada@example.com`

await serve({
  contract,
  variables,
  redactPath,
  async open(config, { log, measure }) {
    const store = await openStore(config, { warn: (text) => log.warn(text) })
    const tokens = await openTokens(config)
    const measured = measure(store, MEASURED)
    return {
      guard: guard(tokens),
      handlers: { ...users(measured, config.BASE_PATH), ...login(measured, tokens) },
      toHttpError,
      store,
      onListening({ oldest, isPublic }) {
        if (isPublic) log.warn(OPEN_TO_OTHERS)
        log.info(`users are kept in ${store.description}`)
        if (oldest === null)
          log.info(`no users yet; create one, with the same environment: ${CREATE_USER}`)
      },
    }
  },
})
