// Files to read and to write; `-` is standard input or output.
import fs, { type Stats } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

export interface Input {
  /** The default file of the report. */
  report: string
  /** Ends at once when it is destroyed, even while it waits. */
  bytes: Readable
  stat: Stats
  /** How much was read, from 0 to 1, if that is known. */
  part(): number | undefined
}

/** @throws Error the file cannot be read */
export function openInput(file: string): Input {
  const fd = file === '-' ? 0 : fs.openSync(file, 'r')
  const stat = fs.fstatSync(fd)
  const bytes = streamOf(fd, stat, file)
  const part = () => (stat.size > 0 ? Math.min(bytes.bytesRead / stat.size, 1) : undefined)
  return { report: fd > 0 && stat.isFile() ? `${file}.report.txt` : '-', bytes, stat, part }
}

function streamOf(fd: number, stat: Stats, file: string) {
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
  if (file === '-') return (text, signal) => pipeline(text, process.stdout, { end: false, signal })
  const there = fs.statSync(file, { throwIfNoEntry: false })
  if (there && !there.isFile()) return writeTo(fs.createWriteStream(file), file)
  if (there && !force) throw new Error(`${file} exists: --force overwrites it`)
  const target = there ? fs.realpathSync(file) : file
  const draft = `${target}.${process.pid}.part`
  const output = fs.createWriteStream(draft, { fd: fs.openSync(draft, 'wx', 0o600), flush: true })
  return async (text, signal) => {
    try {
      await writeTo(output, file)(text, signal)
      fs.renameSync(draft, target)
    } finally {
      fs.rmSync(draft, { force: true })
    }
  }
}

const writeTo =
  (output: Writable, file: string): Write =>
  (text, signal) =>
    /\.gz$/i.test(file)
      ? pipeline(text, createGzip(), output, { signal })
      : pipeline(text, output, { signal })
