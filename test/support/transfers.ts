// import-users and export-users, as programs and as functions.
import { afterEach, beforeEach, expect } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Line } from '../../scripts/users/transfer/lines.ts'
import { readText } from '../../scripts/users/transfer/text.ts'
import { killPrograms, run } from './program.ts'
import { newFolder } from './readme.ts'
import { usePlaces, type Place } from './stores.ts'

/** The files and the stores of one test. */
export function useTransfers() {
  let folder: string
  beforeEach(() => void (folder = newFolder()))
  afterEach(killPrograms)
  /** A place that is removed when the test ends. */
  const at = usePlaces()

  async function done(script: string, place: Place, args: string[], input?: string) {
    const program = run(`scripts/users/${script}`, place, {}, args)
    program.process.stdin!.end(input)
    return { code: await program.ended, ...program.output }
  }

  return {
    folder: () => folder,
    at,
    file: (name: string, content: string | Buffer): string => {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    },
    done,
    importUsers: (place: Place, ...args: string[]) => done('import-users', place, args),
    exportUsers: (place: Place, ...args: string[]) => done('export-users', place, args),
  }
}

export type Reader = (text: AsyncIterable<string>) => AsyncIterable<Iterable<Line>>

/** What `reader` finds in a file that comes in chunks of `size` bytes; `found` has what precedes an error. */
export async function read(
  reader: Reader,
  file: string | Buffer,
  size = Infinity,
  encoding?: string,
  found: Line[] = [],
): Promise<Line[]> {
  const bytes = inChunks(Buffer.from(file as string), size)
  for await (const some of reader(readText(bytes, encoding))) {
    for (const line of some) found.push(line)
  }
  return found
}

export async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** What `reader` finds in a file, which must be the same however the file is cut into chunks. */
export async function readAnyhow(reader: Reader, file: string | Buffer, encoding?: string) {
  const lines = await read(reader, file, Infinity, encoding)
  for (const size of [1, 2, 3, 7]) expect(await read(reader, file, size, encoding)).toEqual(lines)
  return lines
}
