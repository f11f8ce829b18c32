// The tokens of a service and their variables. A service with another guard needs neither.
import { existsSync } from 'node:fs'
import { duration, isPlaceholder, list, NOT_REPLACED, secret, text } from '../config/validators.ts'
import { isLongEnough, MIN_SECRET_BYTES, openSecrets, type SecretConfig } from './signing-secret.ts'
import type { Tokens } from './tokens.ts'

const LONG_ENOUGH = `at least ${MIN_SECRET_BYTES} bytes`
const isFolder = (path: string) => !path.startsWith('~') && !path.split('/').some(isPlaceholder)
const SECRETS = 'must be one secret, on one line; SIGNING_SECRETS takes several'
const ONE_ITEM = 'must be separated by commas or lines, without brackets and quotes'
const PATH = 'must be the secret itself; put the path of a file in'
const SECRET_TWICE = 'must not be set with SIGNING_SECRET; put this secret first in the list'

export const tokenVariables = {
  /** The folder of the file with the secret, unless a variable has it. */
  DATA_DIR: {
    ...text(NOT_REPLACED, isFolder)({ default: './data' }),
    conflict: ({ DATA_DIR = '' }: NodeJS.ProcessEnv) =>
      /^([\w+.-]+:\/\/|file:|sqlite:|:memory:)/.test(DATA_DIR)
        ? 'must be a folder, not a URL'
        : undefined,
  },
  SIGNING_SECRET: {
    ...secret(text(`have ${LONG_ENOUGH} (RFC 7518 §3.2)`, isLongEnough)({ default: undefined })),
    conflict({ SIGNING_SECRET = '' }: NodeJS.ProcessEnv) {
      if (isPath(SIGNING_SECRET)) return `${PATH} SIGNING_SECRET_FILE`
      return SIGNING_SECRET.includes('\n') || hasSeveral(SIGNING_SECRET) ? SECRETS : undefined
    },
  },
  SIGNING_SECRETS: {
    ...secret(list(`secrets of ${LONG_ENOUGH}`, isLongEnough)({ default: undefined })),
    conflict({ SIGNING_SECRET, SIGNING_SECRETS = '' }: NodeJS.ProcessEnv) {
      if (SIGNING_SECRET && SIGNING_SECRETS) return SECRET_TWICE
      const secrets = SIGNING_SECRETS.split(/\s*[,\n]\s*/)
      if (secrets.some(isPath)) return `${PATH} SIGNING_SECRETS_FILE`
      return /^\s*\[\s*["']/.test(SIGNING_SECRETS) || secrets.some(hasSeveral)
        ? ONE_ITEM
        : undefined
    },
  },
  /** In seconds. */
  TOKEN_TTL: duration('1s', '10y', 1_000)({ default: 86_400 }),
}

/** Whether it is the path of a file, which others know, and not what it has. */
const isPath = (secret: string): boolean =>
  /^(\/var)?\/run\//.test(secret) || (secret.startsWith('/') && existsSync(secret))

/** Whether several secrets, as `openssl rand` prints them, became one, with which no token would be valid. */
const hasSeveral = (secret: string): boolean =>
  /^[\w+/=-]{32,}(\s*[\s,;]\s*[\w+/=-]{32,})+$/.test(secret)

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
