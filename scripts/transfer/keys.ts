// Users by the keys of objects in JSON. Keys may differ from object to object; inner ones are titled `name.first`.
import type { Line } from './lines.ts'
import { contentOf } from './records.ts'
import { headerOf, openSummary, type Columns, type Header } from './titles.ts'

type Objects = (text: AsyncIterable<string>) => AsyncGenerator<Iterable<Line>>

/** Reads users from the objects that `read` finds; at the end, reports the keys that are used and those that are not. */
export function byKeys(read: Objects) {
  return async function* (
    text: AsyncIterable<string>,
    chosen: Columns = {},
    onColumns: (summary: string) => void = () => {},
  ): AsyncGenerator<Iterable<Line>> {
    const { headerWith, summary } = openHeaders(chosen)
    try {
      for await (const lines of read(text)) yield usersIn(lines, headerWith)
    } finally {
      if (summary()) onColumns(summary())
    }
  }
}

function* usersIn(
  lines: Iterable<Line>,
  headerWith: (titles: string[]) => Header,
): Generator<Line> {
  for (const line of lines) {
    const leaves = 'fields' in line ? leavesOf(line.fields) : []
    const values = leaves.map(([, value]) => value)
    const content = () => contentOf(values, headerWith(leaves.map(([title]) => title)))
    yield 'reason' in line ? line : { line: line.line, element: line.element, ...content() }
  }
}

/** The headers of objects, one for all objects with the same keys. */
function openHeaders(chosen: Columns) {
  const headers = new Map<string, Header>()
  const summary = openSummary()

  function headerWith(titles: string[]): Header {
    const key = titles.join('\n')
    const known = headers.get(key)
    if (known) return known
    const header = headerOf(titles, chosen, 'key')
    if (headers.size === 0 && header.absent) throw new Error(header.absent)
    if (headers.size === MAX_HEADERS) headers.clear()
    headers.set(key, header)
    summary.add(header)
    return header
  }

  return { headerWith, summary: summary.text }
}

const MAX_HEADERS = 1_000
const MAX_DEPTH = 4
const MAX_KEYS = 100

/** What is in `value`, with its path. Keys of MongoDB's extended JSON, such as `$oid`, are left out of the path. */
function leavesOf(value: unknown, path = '', depth = 0): [string, unknown][] {
  const entries = typeof value === 'object' && value ? Object.entries(value) : []
  const [first] = entries
  if (depth > 0 && entries.length === 1 && /^\$(oid|uuid|number\w+)$/.test(first![0]))
    return [[path, first![1]]]
  const isInner =
    depth > 0 && (entries.length === 0 || entries.length > MAX_KEYS || depth === MAX_DEPTH)
  if (isInner) return [[path, value]]
  return entries.flatMap(([key, inner]) =>
    leavesOf(inner, path ? `${path}.${key}` : key, depth + 1),
  )
}
