// Creates a user in the configured store and prints it with a token: how the first user comes to be.
import { parseArgs } from 'node:util'
import { readConfig } from '../src/config.ts'
import { openSecrets } from '../src/signing-secret.ts'
import { openStore } from '../src/store/open.ts'
import { createTokens } from '../src/tokens.ts'

const USAGE = 'usage: npm run create-user -- --name NAME --email EMAIL'

try {
  const { name, email } = readArguments()
  const config = readConfig(process.env)
  const store = await openStore(config)
  const tokens = createTokens(openSecrets(config), config.tokenTtl)
  const user = await store.create({ name, email })
  await store.close()
  console.log(`${JSON.stringify(user)}\n\nAuthorization: Bearer ${tokens.issue(user.id)}`)
} catch (error) {
  console.error((error as Error).message)
  process.exit(1)
}

function readArguments(): { name: string; email: string } {
  try {
    const { values } = parseArgs({
      options: { name: { type: 'string' }, email: { type: 'string' } },
    })
    if (!values.email) throw new Error('an email is needed: without one a user cannot log in')
    return { name: values.name ?? '', email: values.email }
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`)
    process.exit(2)
  }
}
