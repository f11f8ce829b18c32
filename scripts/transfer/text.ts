// The bytes of a file as text, chunk by chunk.
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'

/**
 * The text of `bytes`: unzipped if they are gzip, and without a byte order mark. It ends with a line feed,
 * and no chunk ends between `\r` and `\n`.
 *
 * @param encoding a label of the WHATWG Encoding Standard; if not given, UTF-8, or UTF-16 by its mark
 * @throws Error the bytes are a spreadsheet, or not valid in the encoding; the lines before the error come first
 */
export async function* readText(
  bytes: AsyncIterable<Buffer>,
  encoding?: string,
): AsyncGenerator<string> {
  let { head, all } = await peek(bytes)
  const isGzip = head.startsWith('1f8b') // RFC 1952 §2.3.1
  if (isGzip) ({ head, all } = await peek(pipeline(all, createGunzip(), () => {}))) // the reader gets its errors
  if (SPREADSHEET_HEADS.includes(head)) throw new Error(NO_SPREADSHEET)
  const charset = encoding ?? BYTE_ORDER_MARKS[head.slice(0, 4)] ?? 'utf-8'
  let pending = ''
  for await (const chunk of decode(all, charset)) {
    const text = pending + chunk
    pending = text.endsWith('\r') ? '\r' : ''
    yield pending ? text.slice(0, -1) : text
  }
  yield `${pending}\n`
}

/** https://encoding.spec.whatwg.org/#bom-sniff */
const BYTE_ORDER_MARKS: Record<string, string> = { fffe: 'utf-16le', feff: 'utf-16be' }

/** The first bytes of a zip file, as .xlsx is, and of .xls. */
const SPREADSHEET_HEADS = ['504b0304', 'd0cf11e0']
export const NO_SPREADSHEET =
  'a spreadsheet cannot be read or written: use CSV (UTF-8), which spreadsheet programs save and open'

/** All bytes, and the first four of them in hexadecimal digits. */
async function peek(bytes: AsyncIterable<Buffer>) {
  const iterator = bytes[Symbol.asyncIterator]()
  let first: Buffer = Buffer.alloc(0)
  while (first.length < 4) {
    const { value, done } = await iterator.next()
    if (done) break
    first = Buffer.concat([first, value])
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield first
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  return { head: first.toString('hex', 0, 4), all: all() }
}

async function* decode(bytes: AsyncIterable<Buffer>, encoding: string): AsyncGenerator<string> {
  const strict = new TextDecoder(encoding, { fatal: true })
  const lenient = new TextDecoder(encoding)
  let text = ''
  let chunk: Buffer = Buffer.alloc(0)
  try {
    for await (chunk of bytes) {
      text = lenient.decode(chunk, { stream: true })
      strict.decode(chunk, { stream: true })
      yield text
    }
    text = ''
    strict.decode()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error
    yield /^(?:[^\uFFFD]*[\r\n])?/.exec(text)![0] // the lines before the one that is not valid
    const isOther = encoding !== 'utf-8' || NOT_WINDOWS_1252.test(chunk.toString('latin1'))
    const advice = isOther ? 'see --encoding' : 'perhaps --encoding windows-1252'
    throw new Error(`this is not valid ${encoding} text: ${advice}`, { cause: error })
  }
}

/** Bytes without a character in windows-1252, or with one that no name has, such as † or ‰. Shift_JIS uses them often. */
const NOT_WINDOWS_1252 = /[\x81\x83\x86-\x89\x8b\x8d\x8f\x90\x95\x98\x99\x9b\x9d]/
