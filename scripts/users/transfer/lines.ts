// Splits text into lines, in bounded memory; and the types of what a line contains.

/** The fields of a user in a file, or why they cannot be read. */
export type Content = { fields: Record<string, unknown> } | { reason: string }

/** A user in a file, with the number of the line where it begins and of its element in a JSON array, from 1. */
export type Line = { line: number; element?: number } & Content

export const positionOf = ({ line, element }: Pick<Line, 'line' | 'element'>): string =>
  element === undefined ? `line ${line}` : `line ${line}, element ${element}`

/** The most characters of one user: more than `BODY_LIMIT` can let POST take. */
export const MAX_LENGTH = 8_500_000

const max = MAX_LENGTH.toLocaleString('en')
export const TOO_LONG = { reason: `it is longer than ${max} characters` }

/** The most fields of a line or object: as many as a line of a spreadsheet can have. */
export const MAX_FIELDS = 16_384
export const TOO_WIDE = { reason: `it has more than ${MAX_FIELDS.toLocaleString('en')} fields` }

/**
 * Lines with their ends (`\n`, `\r\n` or `\r`), and the number of the first. A line that is too long is cut
 * after `MAX_LENGTH + 1` characters.
 *
 * @param text its chunks never end between `\r` and `\n`, and its last chunk ends a line
 */
export async function* linesOf(
  text: AsyncIterable<string>,
): AsyncGenerator<{ first: number; lines: string[] }> {
  let first = 1
  let partial = ''
  for await (const chunk of text) {
    const lines = chunk.match(LINE) ?? []
    if (lines.length === 0) continue
    if (partial.length <= MAX_LENGTH) partial += lines[0]!.slice(0, MAX_LENGTH + 1)
    lines[0] = partial.slice(0, MAX_LENGTH + 1)
    partial = /[\r\n]$/.test(chunk) ? '' : lines.pop()!
    yield { first, lines }
    first += lines.length
  }
}

const LINE = /[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+/g
