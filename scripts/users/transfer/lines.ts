// Splits the bytes of a file into lines of text, in bounded memory. Never guesses an encoding.
import { isUtf8 } from 'node:buffer'
import type { User } from '../../../src/store/user-store.ts'

/** The fields of a user in a file, which has only texts. */
export type Texts = Partial<Record<keyof User, string>>

/** A record of CSV, or a line of NDJSON. */
export interface Row {
  /** The number of the line where it begins, from 1. */
  line: number
  /** As it is in the file, without the end of its last line. */
  text: string
  /** Absent if it cannot be read. Throws an Error if a value is not a text. */
  fields?: () => Texts
  /** Why it is refused, unless export-users wrote it. */
  problem?: string
}

/** Reads a file line by line, and then its end. Both throw a UsageError if its columns are not those that are meant. */
export interface Reader {
  read(text: string, line: number): Row | undefined
  end(): Row | undefined
}

/** The most bytes of a record. The largest user that POST takes, 1 MiB of JSON, fits in each format. */
export const MAX_BYTES = 1_100_000
export const TOO_LONG = `is longer than ${MAX_BYTES.toLocaleString('en')} bytes: the import ends here`

/**
 * Lines without their line feeds, and the number of the first, from 1.
 *
 * @throws Error a line is too long or not UTF-8; the lines before it come first
 */
export async function* linesOf(bytes: AsyncIterable<Buffer>) {
  let first = 1
  let partial = Buffer.alloc(0)

  function* read(block: Buffer) {
    const text = block.toString()
    const lines = (first === 1 ? text.replace(/^\uFEFF/, '') : text).split('\n')
    // Decoded, a line that is not UTF-8 has other bytes.
    const wrong = isUtf8(block) ? lines.length : lines.findIndex((line) => !block.includes(line))
    yield { first, lines: lines.slice(0, wrong) }
    if (wrong < lines.length) throw new Error(`line ${first + wrong} ${NO_UTF8}`)
    first += lines.length
  }

  for await (const chunk of bytes) {
    const block = Buffer.concat([partial, chunk])
    const end = block.lastIndexOf('\n')
    if (end >= 0) yield* read(block.subarray(0, end))
    partial = block.subarray(end + 1)
    if (partial.length > MAX_BYTES) throw new Error(`line ${first} ${TOO_LONG}`)
  }
  if (partial.length > 0) yield* read(partial)
}

const NO_UTF8 = 'is not UTF-8: convert the file with iconv -f ENCODING -t UTF-8, or unpack it'
