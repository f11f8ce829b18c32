// The signing secrets: from the configuration, or one that the first start makes and keeps next to the data.
import { randomBytes, randomUUID } from 'node:crypto'
import fs, { type Stats } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, readTextFile, renameNoReplace } from '../files.ts'

/** The fewest bytes that a key for HS256 may have (RFC 7518 §3.2). */
export const MIN_SECRET_BYTES = 32

export const isLongEnough = (secret: string): boolean =>
  Buffer.byteLength(secret) >= MIN_SECRET_BYTES

/** Those of `tokenVariables` that say what the secrets are. */
export interface SecretConfig {
  DATA_DIR: string
  SIGNING_SECRET: string | undefined
  SIGNING_SECRETS: string[] | undefined
}

/**
 * The configured secrets, else those in a file in `DATA_DIR`, one per line. If there is no file, it is made
 * with one secret of 256 bits, and `log` says so. Processes that start at the same time get the same secret.
 *
 * @returns at least one; the first signs, all verify
 */
export function openSecrets(
  { DATA_DIR, SIGNING_SECRET, SIGNING_SECRETS }: SecretConfig,
  log: { info: (text: string) => void },
): string[] {
  if (SIGNING_SECRETS) return SIGNING_SECRETS
  if (SIGNING_SECRET) return [SIGNING_SECRET]
  const file = join(DATA_DIR, 'signing-secret')
  try {
    makeFolder(DATA_DIR)
    if (!fs.existsSync(file) && createFile(file)) log.info(`made a secret in ${file}`)
    checkPrivate(fs.statSync(file))
    const secrets = readTextFile(file, 'it')
      .trim()
      .split(/\s*\n\s*/)
    if (secrets.every(isLongEnough)) return secrets
    throw new Error(`each line must have at least ${MIN_SECRET_BYTES} bytes (RFC 7518 §3.2)`)
  } catch (error) {
    throw new Error(`cannot use ${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** @throws Error another account knows the secret, or can have written it; ssh refuses such a key, too */
function checkPrivate({ uid, mode }: Stats): void {
  if (uid !== (process.geteuid?.() ?? uid))
    throw new Error('it belongs to another account; use chown, or set SIGNING_SECRET')
  if (mode & 0o077)
    throw new Error('other accounts can read or write it; use chmod 600, or set SIGNING_SECRET')
}

/**
 * Writes a temporary file and renames it: the first process wins, and none reads half a secret.
 *
 * @returns whether this process was the first
 */
function createFile(file: string): boolean {
  const temporary = `${file}.${randomUUID()}`
  try {
    const secret = randomBytes(32).toString('hex')
    fs.writeFileSync(temporary, `${secret}\n`, { mode: 0o600, flush: true })
    renameNoReplace(temporary, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    fs.rmSync(temporary, { force: true })
  }
}
