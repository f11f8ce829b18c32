// Files to read and to write; `-` is standard input or output.
import fs, { type Stats } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

export interface Input {
  /** The file of the report if none is given. */
  defaultReport: string
  /** Ends at once when it is destroyed, even while it waits. */
  bytes: Readable
  stat: Stats
  /** How much was read, from 0 to 1, if that is known. */
  fraction(): number | undefined
}

/** @throws Error the file cannot be read */
export function openInput(file: string): Input {
  const fd = file === '-' ? 0 : fs.openSync(file, 'r')
  const stat = fs.fstatSync(fd)
  const bytes = openStream(fd, stat, file)
  const fraction = () => (stat.size > 0 ? Math.min(bytes.bytesRead / stat.size, 1) : undefined)
  const defaultReport = fd > 0 && stat.isFile() ? `${file}.report.txt` : '-'
  return { defaultReport, bytes, stat, fraction }
}

function openStream(fd: number, stat: Stats, file: string) {
  if (fd === 0) return process.stdin
  if (stat.isFIFO()) return new Socket({ fd, readable: true, writable: false })
  return fs.createReadStream(file, { fd, highWaterMark: 256 * 1024 })
}

type Write = (text: AsyncIterable<string>, signal: AbortSignal) => Promise<void>

/**
 * Opens a file that gets its name only when it is complete. A pipe or a device is written directly.
 *
 * @returns a function that writes the text, as gzip if the name of the file says so
 * @throws Error the file exists and `force` is false
 */
export function openOutput(file: string, force: boolean): Write {
  if (file === '-') return writeTo(process.stdout, file)
  const existing = fs.statSync(file, { throwIfNoEntry: false })
  if (existing && !existing.isFile()) return writeTo(fs.createWriteStream(file), file)
  if (existing && !force) throw new Error(`${file} exists: --force overwrites it`)
  const target = existing ? fs.realpathSync(file) : file
  const temporary = `${target}.${process.pid}.part`
  const fd = fs.openSync(temporary, 'wx', 0o600)
  const output = fs.createWriteStream(temporary, { fd, flush: true })
  return async (text, signal) => {
    try {
      await writeTo(output, file)(text, signal)
      fs.renameSync(temporary, target)
    } finally {
      fs.rmSync(temporary, { force: true })
    }
  }
}

const writeTo =
  (output: Writable, file: string): Write =>
  (text, signal) =>
    /\.gz$/i.test(file)
      ? pipeline(text, createGzip(), output, { signal })
      : pipeline(text, output, { signal })
