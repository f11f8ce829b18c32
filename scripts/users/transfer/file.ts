// Files to read and to write; `-` is standard input or output.
import fs from 'node:fs'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** @throws Error the file cannot be read */
export function openInput(file: string): Readable {
  if (file === '-') return process.stdin
  const fd = fs.openSync(file, 'r')
  // A process cannot exit while a thread waits for the writer of a named pipe.
  if (fs.fstatSync(fd).isFIFO()) return new Socket({ fd, readable: true, writable: false })
  return fs.createReadStream(file, { fd, highWaterMark: 16 * 1024 })
}

/** @throws Error the file exists */
export function refuseExisting(file: string): void {
  if (file !== '-' && fs.lstatSync(file, { throwIfNoEntry: false }))
    throw new Error(`${file} exists: give another file`)
}

/**
 * Opens a file that gets its name only when it is complete.
 *
 * @returns a function that writes the text
 * @throws Error the file exists
 */
export function openOutput(file: string) {
  refuseExisting(file)
  const isFile = file !== '-'
  const temporary = `${file}.${process.pid}.part`
  const fd = isFile ? fs.openSync(temporary, 'wx', 0o600) : 1
  const output = isFile ? fs.createWriteStream(temporary, { fd, flush: true }) : process.stdout
  return async (text: AsyncIterable<string>, signal: AbortSignal): Promise<void> => {
    try {
      await pipeline(text, output, { signal })
      if (isFile) fs.linkSync(temporary, file) // fails if another program has made the file meanwhile
    } finally {
      if (isFile) fs.rmSync(temporary, { force: true })
    }
  }
}
