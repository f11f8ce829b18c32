// Text, record by record. Of a record that is broken its line is told, and reading goes on behind it.

/** What a record says of a user, or why it says nothing. */
export type Content = { fields: Record<string, unknown> } | { reason: string }

/** A record, by the line in which it begins, from 1. */
export type Line = { line: number } & Content

/** The most UTF-16 code units that a record may have: one that does not end is not waited for. */
const LONGEST = 8_000_000

export const NOT_UTF8 = { reason: 'it is not UTF-8 (--encoding names another encoding)' }

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
 * @param cr whether a carriage return at the end of a record ends its line; within it only line feeds do
 */
export async function* readRecords(
  text: AsyncIterable<string>,
  find: Find,
  cr = false,
): AsyncGenerator<Line[]> {
  let rest = ''
  let line = 1

  function read(isLast: boolean): Line[] {
    const lines: Line[] = []
    let at = 0
    while (at < rest.length) {
      const found = find(rest, at, isLast || rest.length - at > LONGEST)
      if (!found) break
      if (found.content) lines.push({ line, ...found.content })
      line += countLines(rest, at, found.end)
      if (cr && rest[found.end - 1] === '\r') line += 1
      at = found.end
    }
    rest = rest.slice(at)
    return lines
  }

  let enough = 0
  for await (const chunk of text) {
    rest += chunk
    if (rest.length < enough) continue
    yield read(false)
    enough = 2 * rest.length // so that a long record is not read again for each of its chunks
  }
  yield read(true)
}

function countLines(text: string, from: number, to: number): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1))
    count += 1
  return count
}

/** Where the line ends in which `at` is. */
export const endOfLine = (text: string, at: number): number =>
  text.indexOf('\n', at) + 1 || text.length
