// Files by their names: their format, whether they are gzip, `-` for a standard stream.
import {
  createReadStream,
  createWriteStream,
  existsSync,
  fstatSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
} from 'node:fs'
import { addAbortSignal } from 'node:stream'
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
  bytes: AsyncIterable<Buffer>
  stat: Stats
  /** How much of it was read, 0 to 1, if that is known. */
  part(): number | undefined
}

/**
 * Opens a file, or standard input for `-`.
 *
 * @param stop ends the bytes with an `AbortError`
 * @throws Error there is none
 */
export function openInput(file: string, stop: AbortSignal): Input {
  const fd = isStandard(file) ? 0 : openSync(file, 'r')
  const stat = fstatSync(fd)
  const bytes = isStandard(file)
    ? process.stdin // which ends at once, even while it waits
    : createReadStream(file, { fd, highWaterMark: 256 * 1024 })
  addAbortSignal(stop, bytes)
  const isKnown = stat.isFile() && stat.size > 0
  const part = () => (isKnown ? Math.min(bytes.bytesRead / stat.size, 1) : undefined)
  return { report: fd > 0 && stat.isFile() ? `${file}.report.txt` : '-', bytes, stat, part }
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
  if (!force && existsSync(file)) throw new Error(`${file} is there: --force writes over it`)
  const draft = `${file}.${process.pid}.part`
  const fd = openSync(draft, 'wx', 0o600)
  return {
    async write(text, signal) {
      try {
        const output = createWriteStream(draft, { fd, flush: true })
        if (isGzip(file)) await pipeline(text, createGzip(), output, { signal })
        else await pipeline(text, output, { signal })
        renameSync(draft, file)
      } finally {
        rmSync(draft, { force: true })
      }
    },
  }
}

export interface Output {
  write: (text: AsyncIterable<string>, signal: AbortSignal) => Promise<void>
}

const isStandard = (file: string): boolean => file === '-'
const isGzip = (file: string): boolean => /\.gz$/i.test(file)
