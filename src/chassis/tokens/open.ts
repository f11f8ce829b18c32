// The tokens of a service and their variables. A service with another guard needs neither.
import { duration, isPlaceholder, list, NOT_REPLACED, secret, text } from '../config/validators.ts'
import { isLongEnough, MIN_SECRET_BYTES, openSecrets, type SecretConfig } from './signing-secret.ts'
import type { Tokens } from './tokens.ts'

const LONG_ENOUGH = `at least ${MIN_SECRET_BYTES} bytes`
const isFolder = (path: string) => !path.startsWith('~') && !path.split('/').some(isPlaceholder)
const SECRETS = 'must be one line; SIGNING_SECRETS takes several secrets'
const SECRET_TWICE = 'must not be set with SIGNING_SECRET; put this secret first in the list'

export const tokenVariables = {
  /** The folder of the file with the secret, unless a variable has it. */
  DATA_DIR: text(NOT_REPLACED, isFolder)({ default: './data' }),
  SIGNING_SECRET: {
    ...secret(text(`have ${LONG_ENOUGH} (RFC 7518 §3.2)`, isLongEnough)({ default: undefined })),
    conflict: ({ SIGNING_SECRET }: NodeJS.ProcessEnv) =>
      SIGNING_SECRET?.includes('\n') ? SECRETS : undefined,
  },
  SIGNING_SECRETS: {
    ...secret(list(`secrets of ${LONG_ENOUGH}`, isLongEnough)({ default: undefined })),
    conflict: ({ SIGNING_SECRET, SIGNING_SECRETS }: NodeJS.ProcessEnv) =>
      SIGNING_SECRET && SIGNING_SECRETS ? SECRET_TWICE : undefined,
  },
  /** In seconds. */
  TOKEN_TTL: duration('1s', '10y', 1_000)({ default: 86_400 }),
}

/**
 * Issues and verifies tokens with the secrets of `openSecrets`.
 *
 * @param log of `Tools`: gets a line if a secret is made, because tokens of other services are then refused
 * @throws Error the file with the secret cannot be used
 */
export async function openTokens(
  config: SecretConfig & { TOKEN_TTL: number },
  log: { info: (text: string) => void },
): Promise<Tokens> {
  const { createTokens } = await import('./tokens.ts') // not before the configuration was read: it takes 30 ms
  return createTokens(openSecrets(config, log), config.TOKEN_TTL)
}
