// The signing secret: from the configuration, or made at the first start and kept beside the data.
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MIN_SECRET_BYTES } from './tokens.ts'

/**
 * The configured secret, else the one kept in `dataDir`, which is made, of 256 bits, if there is
 * none. Only its owner may read the file. Processes that come first at once get the same one.
 */
export function openSecret(config: { signingSecret: string | undefined; dataDir: string }): string {
  if (config.signingSecret) return config.signingSecret
  const file = join(config.dataDir, 'signing-secret')
  try {
    if (!existsSync(file)) make(file)
    const secret = readFileSync(file, 'utf8').trim()
    if (Buffer.byteLength(secret) >= MIN_SECRET_BYTES) return secret
    throw new Error(`it must have at least ${MIN_SECRET_BYTES} bytes (RFC 7518 §3.2)`)
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
