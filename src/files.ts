// The small files that people name, such as `.env` and secrets, and files that must be private. Never waits for a FIFO,
// and reads no device.
import { isUtf8 } from 'node:buffer'
import fs, { type Stats } from 'node:fs'

/** In bytes. */
const MAX_SIZE = 1024 * 1024

/**
 * @param isPrivate whether only the user of this process may be able to read and write it; then it must not be a link
 * @throws Error it is not a regular file, is too large, is not UTF-8, or not as `isPrivate` says
 */
export function readTextFile(file: string, isPrivate = false): string {
  const { O_NOFOLLOW, O_NONBLOCK } = fs.constants
  const fd = fs.openSync(file, O_NONBLOCK | (isPrivate ? O_NOFOLLOW : 0)) // a FIFO would wait for its writer
  try {
    const stats = fs.fstatSync(fd)
    if (!stats.isFile()) throw new Error('it is not a regular file')
    if (isPrivate) checkOwner(stats, 0o077)
    const bytes = readStart(fd)
    if (bytes.length > MAX_SIZE) throw new Error(`it has more than ${MAX_SIZE} bytes`)
    if (!isUtf8(bytes)) throw new Error('it is not UTF-8')
    return bytes.toString()
  } finally {
    fs.closeSync(fd)
  }
}

/** @param forbidden the permissions that others must not have, such as 0o077 @throws Error others can use the file */
export function checkOwner({ uid, mode }: Stats, forbidden: number): void {
  if (uid !== (process.geteuid?.() ?? uid)) throw new Error('it belongs to another user')
  const verb = forbidden === 0o002 ? 'write' : 'read or write'
  if (mode & forbidden) throw new Error(`other users can ${verb} it; use chmod 600`)
}

/** Reads one byte more than a file may have. The size that the system says is 0 for files of /proc, which can be endless. */
function readStart(fd: number): Buffer {
  const buffer = Buffer.alloc(MAX_SIZE + 1)
  let length = 0
  for (let read = -1; read !== 0; length += read) read = fs.readSync(fd, buffer, { offset: length })
  return buffer.subarray(0, length)
}
