// The environment variables of the service, beside those of the chassis. README.md has a list of all.
import { secret, text, tokenVariables } from './chassis/index.ts'

/** Credentials, hosts, a database and options. An unescaped `@` or `/` in the password would be parsed as the host. */
const MONGODB_URI =
  /^mongodb(\+srv)?:\/\/([^@/?#\n]*@)?[^@/?#\n]+(\/[^@/?#\n]*)?(\?(\w+=[^#\n]*)?)?$/
const MONGODB_URI_RULE =
  'start with mongodb:// or mongodb+srv://; percent-encode @ (%40), / (%2F), ? (%3F) and # (%23) in a password'
const mongodbUri = text(MONGODB_URI_RULE, (uri) => MONGODB_URI.test(uri))

const LIKE_MONGODB_URI = /^[\s"'`]*mongodb(\+srv)?:\/\//i

/** The users would silently be in SQLite. */
function otherUri(vars: NodeJS.ProcessEnv, environment: NodeJS.ProcessEnv) {
  if ('MONGODB_URI' in vars || 'MONGODB_URI' in environment) return undefined
  const names = Object.keys(vars).filter((name) => LIKE_MONGODB_URI.test(vars[name]!))
  if (names.length === 0) return undefined
  return `must be set, because ${names.join(', ')} has a URI of MongoDB; MONGODB_URI= (empty) chooses SQLite`
}

/** Programs that sign no tokens need no secret. */
export const programVariables = {
  ...tokenVariables,
  MONGODB_URI: { ...secret(mongodbUri({ default: undefined })), conflict: otherUri },
}

const SECRET_MISSING = 'must be set with MONGODB_URI; make one with: openssl rand -hex 32'

/** On MongoDB, all instances need the same secret. */
const conflict = (vars: NodeJS.ProcessEnv) =>
  vars['MONGODB_URI'] && !vars['SIGNING_SECRET'] && !vars['SIGNING_SECRETS']
    ? SECRET_MISSING
    : tokenVariables.SIGNING_SECRET.conflict(vars)

export const variables = {
  ...programVariables,
  SIGNING_SECRET: { ...tokenVariables.SIGNING_SECRET, conflict },
}
