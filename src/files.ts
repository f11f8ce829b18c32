// The small files that people name, such as `.env` and secrets. Never waits for a FIFO, and reads no device.
import { isUtf8 } from 'node:buffer'
import fs, { type Stats } from 'node:fs'

/** In bytes. */
const MAX_SIZE = 1024 * 1024

/** @param check throws if the file must not be used @throws Error it is not a regular file, too large or not UTF-8 */
export function readTextFile(file: string, check?: (stats: Stats) => void): string {
  const fd = fs.openSync(file, fs.constants.O_NONBLOCK) // a FIFO would wait for its writer
  try {
    const stats = fs.fstatSync(fd)
    if (!stats.isFile()) throw new Error('it is not a regular file')
    check?.(stats)
    const bytes = readStart(fd)
    if (bytes.length > MAX_SIZE) throw new Error(`it has more than ${MAX_SIZE} bytes`)
    if (!isUtf8(bytes)) throw new Error('it is not UTF-8')
    return bytes.toString()
  } finally {
    fs.closeSync(fd)
  }
}

/** Reads one byte more than a file may have. The size that the system says is 0 for files of /proc, which can be endless. */
function readStart(fd: number): Buffer {
  const buffer = Buffer.alloc(MAX_SIZE + 1)
  let length = 0
  for (let read = -1; read !== 0; length += read) read = fs.readSync(fd, buffer, { offset: length })
  return buffer.subarray(0, length)
}
