#!/usr/bin/env node
// Creates a user in the configured store and prints it with a token: how the first user comes to be.
import { readConfig } from '../src/config.ts'
import { openSecrets } from '../src/auth/signing-secret.ts'
import { openStore } from '../src/store/open.ts'
import { createTokens } from '../src/auth/tokens.ts'
import { program, UsageError } from './program.ts'

const USAGE = 'usage: npm run create-user -- --name NAME --email EMAIL'

const OPTIONS = { name: { type: 'string' }, email: { type: 'string' } } as const

await program(USAGE, OPTIONS, async ({ name = '', email }, words) => {
  if (words.length > 0) throw new UsageError(`there is no option ${words[0]}`)
  if (!email) throw new UsageError('an email is needed: without one a user cannot log in')
  const config = readConfig(process.env)
  const store = await openStore(config)
  const tokens = createTokens(openSecrets(config), config.tokenTtl)
  const user = await store.create({ name, email })
  await store.close()
  console.log(`${JSON.stringify(user)}\n\nAuthorization: Bearer ${tokens.issue(user.id)}`)
  return 0
})
