// The bytes of a file, as text. Never holds more of it than a chunk.
import { isUtf8 } from 'node:buffer'
import { pipeline } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { createGunzip } from 'node:zlib'

/**
 * The text of `bytes`: unzipped if they are gzip, without its byte order mark, and with a line feed at
 * its end. What is no text in its encoding becomes a lone surrogate.
 *
 * @param encoding a label of the WHATWG Encoding Standard; UTF-8, or UTF-16 by its mark, if not given
 */
export async function* readText(
  bytes: AsyncIterable<Buffer>,
  encoding?: string,
): AsyncGenerator<string> {
  const { first, all } = await peek(await unzipped(bytes))
  const decode = decoderOf(encoding ?? utf16Of(first))
  let last = ''
  let isFirst = true
  for await (const chunk of all) {
    let text = decode(chunk)
    if (isFirst) text = text.replace(/^\uFEFF/, '')
    isFirst &&= text === ''
    if (text === '') continue
    yield text
    last = text
  }
  const rest = decode()
  yield last.endsWith('\n') && rest === '' ? '' : `${rest}\n`
}

/** The first two bytes, and all. */
async function peek(bytes: AsyncIterable<Buffer>) {
  const iterator = bytes[Symbol.asyncIterator]()
  let first: Buffer = Buffer.alloc(0)
  while (first.length < 2) {
    const { value, done } = await iterator.next()
    if (done) break
    first = Buffer.concat([first, value])
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield first
    for (;;) {
      const { value, done } = await iterator.next()
      if (done) return
      yield value
    }
  }
  return { first, all: all() }
}

async function unzipped(bytes: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer>> {
  const { first, all } = await peek(bytes)
  const isGzip = first[0] === 0x1f && first[1] === 0x8b // RFC 1952 §2.3.1
  return isGzip ? pipeline(all, createGunzip(), () => {}) : all // the reader gets its errors
}

function utf16Of(first: Buffer): string | undefined {
  if (first[0] === 0xff && first[1] === 0xfe) return 'utf-16le'
  if (first[0] === 0xfe && first[1] === 0xff) return 'utf-16be'
  return undefined
}

/** A function of a chunk to its text; of nothing, at the end, to what is left. */
function decoderOf(encoding: string | undefined): (chunk?: Buffer) => string {
  if (encoding === undefined || /^utf-?8$/i.test(encoding)) return utf8Decoder()
  if (encoding.startsWith('utf-16')) return utf16Decoder(encoding === 'utf-16be')
  const decoder = new TextDecoder(encoding, { ignoreBOM: true })
  return (chunk) =>
    decoder.decode(chunk, { stream: chunk !== undefined }).replaceAll(REPLACEMENT, NO_TEXT)
}

/** Keeps lone surrogates, which TextDecoder would replace. */
function utf16Decoder(isBigEndian: boolean): (chunk?: Buffer) => string {
  const decoder = new StringDecoder('utf16le')
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    if (chunk === undefined) return decoder.end() + (rest.length > 0 ? NO_TEXT : '')
    const bytes = Buffer.concat([rest, chunk])
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 2))
    rest = bytes.subarray(whole.length)
    return decoder.write(isBigEndian ? whole.swap16() : whole)
  }
}

function utf8Decoder(): (chunk?: Buffer) => string {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    if (chunk === undefined) return lenient(rest)
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    const end = bytes.length - begun(bytes)
    rest = bytes.subarray(end)
    const whole = bytes.subarray(0, end)
    return isUtf8(whole) ? whole.toString() : lenient(whole)
  }
}

/** The length of the character at the end of `bytes` that is not whole: 0 to 3. */
function begun(bytes: Buffer): number {
  for (let length = 1; length <= 3 && length <= bytes.length; length += 1) {
    const byte = bytes[bytes.length - length]!
    if (byte >= 0xc0) return length < lengthFrom(byte) ? length : 0
    if (byte < 0x80) return 0
  }
  return 0
}

/** How many bytes the character has that begins with this one (RFC 3629 §3). */
const lengthFrom = (byte: number): number => (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2)

/** The text of bytes that are not all UTF-8, with a surrogate for each sequence that is not. */
function lenient(bytes: Buffer): string {
  const parts: string[] = []
  for (let from = 0; from <= bytes.length;) {
    const at = bytes.indexOf(REPLACEMENT, from) // is text; what TextDecoder puts itself is not
    const end = at < 0 ? bytes.length : at
    parts.push(UTF8.decode(bytes.subarray(from, end)).replaceAll(REPLACEMENT, NO_TEXT))
    from = end + REPLACEMENT_BYTES
  }
  return parts.join(REPLACEMENT)
}

const REPLACEMENT = '\uFFFD'
const REPLACEMENT_BYTES = 3

const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** A lone surrogate, for what is no text. */
const NO_TEXT = '\uDC00'
