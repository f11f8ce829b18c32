// The signing secret: from the configuration, or made at the first start and kept beside the data.
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { MIN_SECRET_BYTES } from './tokens.ts'

/**
 * The configured secret, else the one kept in `dataDir`, which is made, of 256 bits, if there is
 * none. Only its owner may read the file. Processes that come first at once get the same one.
 */
export function openSecret(config: { signingSecret: string | undefined; dataDir: string }): string {
  if (config.signingSecret) return config.signingSecret
  const file = join(config.dataDir, 'signing-secret')
  const secret = read(file) ?? make(file)
  if (Buffer.byteLength(secret) >= MIN_SECRET_BYTES) return secret
  throw new Error(`${file} must have at least ${MIN_SECRET_BYTES} bytes (RFC 7518 §3.2)`)
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Written whole, then linked into place: whoever links first wins, and no half of it is ever seen. */
function make(file: string): string {
  const draft = `${file}.${process.pid}`
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    writeSync(descriptor, `${randomBytes(32).toString('hex')}\n`)
    fsyncSync(descriptor)
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    closeSync(descriptor)
    rmSync(draft)
  }
  return readFileSync(file, 'utf8').trim()
}
