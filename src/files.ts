// Files that people name, or that only the user of the service may change: reads their text, and checks who owns them.
import fs, { type Stats } from 'node:fs'

/** In bytes: far more than a `.env`, a URI or a list of secrets has. */
const MAX_SIZE = 1024 * 1024

/**
 * The text of a regular file in UTF-8, without a byte order mark.
 *
 * @param flags further flags to open it with, such as O_NOFOLLOW
 * @param check looks at the file before it is read
 * @throws Error it cannot be read, or is another kind of file
 */
export function readText(file: string, flags = 0, check: (stats: Stats) => void = () => {}) {
  // Without O_NONBLOCK, a FIFO would wait for its writer.
  const fd = fs.openSync(file, fs.constants.O_NONBLOCK | flags)
  try {
    const stats = fs.fstatSync(fd)
    if (!stats.isFile()) throw new Error('it is not a regular file')
    if (stats.size > MAX_SIZE) throw new Error('it is larger than 1 MB')
    check(stats)
    const text = new TextDecoder('utf-8', { fatal: true })
    return text.decode(fs.readFileSync(fd))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? new Error('it is not UTF-8') : error
  } finally {
    fs.closeSync(fd)
  }
}

/** @param forbidden the permissions that others must not have, such as 0o077 @throws Error others can use the file */
export function checkOwner({ uid, mode }: Stats, forbidden: number): void {
  if (uid !== (process.geteuid?.() ?? uid)) throw new Error('it belongs to another user')
  if (mode & forbidden) throw new Error(`other users can ${VERBS[forbidden]} it; use chmod 600`)
}

const VERBS: Record<number, string> = { 0o077: 'read or write', 0o002: 'write' }
