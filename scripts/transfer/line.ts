// Text, record by record. Of a record that is broken its line is told, and reading goes on behind it.

/** What a record says of a user, or why it says nothing. */
export type Content = { fields: Record<string, unknown> } | { reason: string }

/** A record, by the line in which it begins, from 1. */
export type Line = { line: number } & Content

/** The most UTF-16 code units that a record may have: more than the greatest BODY_LIMIT lets POST take. */
const LONGEST = 8_500_000

const TOO_LONG = { reason: `it is longer than ${LONGEST.toLocaleString('en')} characters` }

export const NOT_TEXT = {
  reason: 'it has bytes that are no text in this encoding (--encoding names another one)',
}

/**
 * Finds the record at `at`: where it ends, and what it says if it is one. Nothing, unless `isLast`, if it
 * may go on in what is still to come.
 */
export type Find = (
  text: string,
  at: number,
  isLast: boolean,
) => { end: number; content?: Content } | undefined

/**
 * @param text whose last chunk ends with a line feed
 * @param ends what ends a record, so that reading goes on behind one that is too long
 * @param cr whether lines end with carriage returns alone if the first does
 */
export async function* readRecords(
  text: AsyncIterable<string>,
  find: Find,
  ends: RegExp,
  cr = false,
): AsyncGenerator<Line[]> {
  let rest = ''
  let line = 1
  let lineEnd = cr ? undefined : '\n'
  let isTooLong = false

  /** @returns where what is too long ends, or nearly all that there is of it */
  function skip(from: number): number {
    const end = ends.exec(rest.slice(from))
    isTooLong = !end
    const to = end ? from + end.index + end[0].length : Math.max(from, rest.length - OVERLAP)
    line += countLines(rest, from, to, lineEnd)
    return to
  }

  function read(lines: Line[], isLast: boolean): void {
    let at = isTooLong ? skip(0) : 0
    while (at < rest.length && !isTooLong) {
      let found = find(rest, at, isLast)
      if (!found && rest.length - at < LONGEST) break
      if (!found && !ends.test(rest.slice(at))) {
        lines.push({ line, ...TOO_LONG })
        at = skip(at)
        continue
      }
      found ??= find(rest, at, true)!
      const content = found.end - at > LONGEST ? TOO_LONG : found.content
      if (content) lines.push({ line, ...content })
      const last = rest[found.end - 1]
      if (last === '\n' || (last === '\r' && found.end < rest.length)) lineEnd ??= last
      line += countLines(rest, at, found.end, lineEnd)
      at = found.end
    }
    rest = rest.slice(at)
  }

  /** What is found, even if what is behind it cannot be read. */
  function* told(isLast: boolean): Generator<Line[]> {
    const lines: Line[] = []
    try {
      read(lines, isLast)
    } finally {
      yield lines
    }
  }

  let enough = 0
  for await (const chunk of text) {
    rest += chunk
    if (rest.length < enough) continue
    yield* told(false)
    enough = 2 * rest.length // so that a long record is not read again for each of its chunks
  }
  yield* told(true)
}

/** How much is looked at again for the end of a record that is too long: it may come in two chunks. */
const OVERLAP = 100

/** How many lines end between `from` and `to`. */
function countLines(text: string, from: number, to: number, lineEnd?: string): number {
  const part = text.slice(from, to) // beyond which nothing is looked for
  if (lineEnd === '\r') return part.match(/\r\n?|\n/g)?.length ?? 0
  let count = 0
  for (let at = part.indexOf('\n'); at >= 0; at = part.indexOf('\n', at + 1)) count += 1
  return count
}

/** Where the line ends in which `at` is. */
export const endOfLine = (text: string, at: number): number =>
  text.indexOf('\n', at) + 1 || text.length
