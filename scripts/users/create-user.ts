#!/usr/bin/env node
// Creates a user in the configured store and prints the user with a token. This is how to create the first user.
import { openTokens, type Config } from '../../src/chassis/index.ts'
import { loadConfig, validator } from '../../src/chassis/programs.ts'
import { programVariables } from '../../src/config.ts'
import { contract } from '../../src/contract.ts'
import { databaseIn, openStore } from '../../src/store/open.ts'
import { newUser } from '../../src/users.ts'
import { checkPlace } from './file.ts'
import { print, program, STORE, UsageError, warn } from './program.ts'

const USAGE = `usage: create-user [--name NAME] --email EMAIL

Stores a user, such as the first one, and prints the user and a token.

${STORE}
The token is valid for TOKEN_TTL. SIGNING_SECRET or SIGNING_SECRETS signs it,
else the file signing-secret in DATA_DIR; on MongoDB, there is no token without
a secret.
Exit codes: 0 the user is stored; 1 it is not, for example because a user has
the email, or it is, and could not be printed; 2 wrong usage.`

const NO_UTF8 = 'the name or the email is not UTF-8, or contains U+FFFD'

const OPTIONS = { name: { type: 'string' }, email: { type: 'string' } } as const

await program(USAGE, OPTIONS, async ({ name, email }, [extra]) => {
  if (extra !== undefined) throw new UsageError(`${extra} is not an option; put a name in quotes`)
  if (!email) throw new UsageError('give an email: a user without one cannot log in')
  const fields = { name: name ?? '', email }
  if (/\ufffd/.test(fields.name + email)) throw new UsageError(NO_UTF8) // Node reads wrong bytes as U+FFFD
  validator(contract.operationOf('createUser'))(fields) // as POST /users
  const config = loadConfig(programVariables)
  if (!config.MONGODB_URI) checkPlace(databaseIn(config.DATA_DIR))
  const authorization = await authorizer(config) // before anything is stored: the secret may be refused
  const store = await openStore(config, { isProgram: true })
  const user = await store.create(newUser(fields))
  await store.close()
  warn(`stored in ${store.description}`)
  if (!/^\S+@\S+$/.test(email))
    warn(`${email} does not look like an email; the user logs in with exactly this text`)
  await print(`${JSON.stringify(user)}\n\n${authorization(user.id)}`)
  return 0
})

/** Returns what makes a header with a token, or says how to get one: only the secret of the service makes valid tokens. */
async function authorizer(config: Config<typeof programVariables>) {
  if (config.MONGODB_URI && !config.SIGNING_SECRET && !config.SIGNING_SECRETS) {
    return () =>
      'No token: SIGNING_SECRET is not set. The service issues one: POST /login {"email": "…"}'
  }
  if (!config.SIGNING_SECRET && !config.SIGNING_SECRETS)
    checkPlace(`${config.DATA_DIR}/signing-secret`)
  const tokens = await openTokens(config, { info: warn })
  return (id: string) => `Authorization: Bearer ${tokens.issue(id)}`
}
