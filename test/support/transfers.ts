// What an import finds in a file.
import { expect } from '@jest/globals'
import { parseTemplate } from '../../scripts/users/transfer/columns.ts'
import { formatOf } from '../../scripts/users/transfer/formats.ts'
import { linesOf, type Row } from '../../scripts/users/transfer/lines.ts'
import { userIn } from '../../scripts/users/transfer/users.ts'
import type { NewUser } from '../../src/store/user-store.ts'

type Options = { size?: number; newIds?: boolean; name?: string; email?: string }

/**
 * What an import finds in a file that comes in chunks of `size` bytes: each line with its user, or why it is refused.
 *
 * @param format `csv` or `ndjson`
 */
export async function read(
  format: string,
  file: string | Buffer,
  { size = Infinity, newIds = false, ...templates }: Options = {},
): Promise<[number, NewUser | string][]> {
  const { reader: readerFor, write } = formatOf('-', format)
  const named = Object.entries(templates) as ['name' | 'email', string][]
  const given = named.map(([field, text]) => parseTemplate(field, text))
  const reader = readerFor(given)
  const found: [number, NewUser | string][] = []
  function add(row: Row | undefined): void {
    if (!row) return
    try {
      found.push([row.line, userIn(row, newIds, write).user])
    } catch (error) {
      found.push([row.line, (error as Error).message])
    }
  }
  for await (const { first, lines } of linesOf(inChunks(Buffer.from(file as string), size)))
    for (const [i, line] of lines.entries()) add(reader.read(line, first + i))
  add(reader.end())
  return found
}

/** The same as text, such as `2 Ada <a@x>`. It must be the same however the file is cut into chunks. */
export async function readAnyhow(format: string, file: string | Buffer, options: Options = {}) {
  const found = await read(format, file, options)
  for (const size of [1, 2, 7])
    expect(await read(format, file, { ...options, size })).toEqual(found)
  return found.map(([line, user]) => {
    if (typeof user === 'string') return `${line}: ${user}`
    return `${line} ${user.name} <${user.email}>${user.id ? ` ${user.id}` : ''}`
  })
}

export async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
