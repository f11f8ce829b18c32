// Files by their names: their format, whether they are gzip, `-` for a standard stream.
import {
  createReadStream,
  createWriteStream,
  fstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  type Stats,
} from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { UsageError } from '../program.ts'

const FORMATS = ['csv', 'ndjson', 'json'] as const
export type Format = (typeof FORMATS)[number]

/** @param asked the format that was asked for, if any @throws UsageError it is not known */
export function formatOf(file: string, asked: string | undefined): Format {
  const extension = /\.(\w+?)(?:\.gz)?$/.exec(file.toLowerCase())?.[1]
  const name = asked ?? (extension === 'jsonl' ? 'ndjson' : extension)
  const format = FORMATS.find((format) => format === name)
  if (format) return format
  throw new UsageError(`--format is needed for ${file}: ${FORMATS.join(', ')}`)
}

export interface Input {
  /** Where its report goes, if nobody says otherwise: beside a file, else to standard error. */
  report: string
  /** A stream, which ends at once when it is destroyed, even while it waits. */
  bytes: Readable
  stat: Stats
  /** How much of it was read, 0 to 1, if that is known. */
  part(): number | undefined
}

/** Opens a file, or standard input for `-`. @throws Error there is none */
export function openInput(file: string): Input {
  const fd = isStandard(file) ? 0 : openSync(file, 'r')
  const stat = fstatSync(fd)
  const bytes = streamOf(fd, stat, file)
  const isKnown = stat.isFile() && stat.size > 0
  const part = () => (isKnown ? Math.min(bytes.bytesRead / stat.size, 1) : undefined)
  return { report: fd > 0 && stat.isFile() ? `${file}.report.txt` : '-', bytes, stat, part }
}

function streamOf(fd: number, stat: Stats, file: string) {
  if (fd === 0) return process.stdin
  if (stat.isFIFO()) return new Socket({ fd, readable: true, writable: false })
  return createReadStream(file, { fd, highWaterMark: 256 * 1024 })
}

/**
 * A file that is there once it is whole, or standard output for `-`.
 *
 * @throws Error there is one already, unless `force`
 */
export function openOutput(file: string, force: boolean): Output {
  if (isStandard(file)) {
    return { write: (text, signal) => pipeline(text, process.stdout, { end: false, signal }) }
  }
  const there = statSync(file, { throwIfNoEntry: false })
  if (!force && there?.isFile()) throw new Error(`${file} is there: --force writes over it`)
  if (there && !there.isFile()) return writeTo(createWriteStream(file), file)
  const target = there ? realpathSync(file) : file
  const draft = `${target}.${process.pid}.part`
  const fd = openSync(draft, 'wx', 0o600)
  return {
    async write(text, signal) {
      try {
        await writeTo(createWriteStream(draft, { fd, flush: true }), file).write(text, signal)
        renameSync(draft, target)
      } finally {
        rmSync(draft, { force: true })
      }
    },
  }
}

/** Writes there, as gzip if `file` has its name. */
const writeTo = (output: Writable, file: string): Output => ({
  write: (text, signal) =>
    isGzip(file)
      ? pipeline(text, createGzip(), output, { signal })
      : pipeline(text, output, { signal }),
})

export interface Output {
  write: (text: AsyncIterable<string>, signal: AbortSignal) => Promise<void>
}

const isStandard = (file: string): boolean => file === '-'
const isGzip = (file: string): boolean => /\.gz$/i.test(file)
