#!/usr/bin/env node
// Creates a user in the configured store and prints the user with a token. This is how to create the first user.
import { openSecrets } from '../src/auth/signing-secret.ts'
import { createTokens } from '../src/auth/tokens.ts'
import { readConfig } from '../src/config.ts'
import { openStore } from '../src/store/open.ts'
import { print, program, UsageError, warn } from './program.ts'

const USAGE = 'usage: npm run create-user -- --name NAME --email EMAIL'

const OPTIONS = { name: { type: 'string' }, email: { type: 'string' } } as const

await program(USAGE, OPTIONS, async ({ name = '', email }, words) => {
  if (words.length > 0) throw new UsageError(`there is no option ${words[0]}`)
  if (!email) throw new UsageError('give an email: a user without one cannot log in')
  const config = readConfig(process.env)
  const store = await openStore(config)
  const tokens = createTokens(openSecrets(config), config.tokenTtl)
  const user = await store.create({ name, email })
  await store.close()
  warn(`stored in ${store.description}`)
  await print(`${JSON.stringify(user)}\n\nAuthorization: Bearer ${tokens.issue(user.id)}`)
  return 0
})
