// The bytes of a file as text, chunk by chunk.
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'

/**
 * The text of `bytes`: unzipped if they are gzip, and without a byte order mark. It ends with a line feed,
 * and no chunk ends between `\r` and `\n`.
 *
 * @param encoding a label of the WHATWG Encoding Standard; if not given, UTF-8, or UTF-16 by its first bytes
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
  const utf16 = UTF_16LE.test(head) ? 'utf-16le' : UTF_16BE.test(head) && 'utf-16be'
  const charset = encoding ?? (utf16 || 'utf-8')
  let pending = ''
  for await (const chunk of decode(all, charset)) {
    const text = pending + chunk
    pending = text.endsWith('\r') ? '\r' : ''
    yield pending ? text.slice(0, -1) : text
  }
  yield `${pending}\n`
}

/**
 * The marks in https://encoding.spec.whatwg.org/#bom-sniff, and two characters of ASCII without a mark, as in
 * https://www.rfc-editor.org/rfc/rfc4627#section-3.
 */
const UTF_16LE = /^(fffe|[2-7].00[0-7].00)/
const UTF_16BE = /^(feff|00[2-7].00[0-7].)/

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
  let line = 1
  try {
    for await (const chunk of bytes) {
      text = lenient.decode(chunk, { stream: true })
      strict.decode(chunk, { stream: true })
      line += lineEndsIn(text)
      yield text
    }
    text = ''
    strict.decode()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error
    const [before] = /^(?:[^\uFFFD]*[\r\n])?/.exec(text)! // the lines before the one that is not valid
    yield before
    const advice = encoding === 'utf-8' ? FIND_OUT : 'see --encoding'
    const place = `line ${line + lineEndsIn(before)}`
    throw new Error(`${place} is not valid ${encoding} text: ${advice}`, { cause: error })
  }
}

const lineEndsIn = (text: string): number => text.split(/\r\n|\n|\r/).length - 1

const FIND_OUT =
  'ask which program wrote the file, and give its encoding with --encoding; bytes do not show it'
