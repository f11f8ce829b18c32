// The signing secrets: from the configuration, or one made at the first start and kept beside the data.
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLongEnough, MIN_SECRET_BYTES } from './tokens.ts'

/**
 * The configured secrets, else those kept in `dataDir`, a line each; one of 256 bits is made there if
 * there is none. Only its owner may read the file. Processes that come first at once get the same one.
 *
 * @returns at least one; the first signs, all verify
 */
export function openSecrets(config: { signingSecrets: string[]; dataDir: string }): string[] {
  if (config.signingSecrets.length > 0) return config.signingSecrets
  const file = join(config.dataDir, 'signing-secret')
  try {
    if (!existsSync(file)) make(file)
    const secrets = readFileSync(file, 'utf8')
      .trim()
      .split(/\s*\n\s*/)
    if (secrets.every(isLongEnough)) return secrets
    throw new Error(`each line must have at least ${MIN_SECRET_BYTES} bytes (RFC 7518 §3.2)`)
  } catch (error) {
    throw new Error(`cannot use ${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** Written whole, then linked into place: whoever links first wins, and no half of it is ever seen. */
function make(file: string): void {
  const draft = `${file}.${randomUUID()}`
  try {
    writeFileSync(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}
