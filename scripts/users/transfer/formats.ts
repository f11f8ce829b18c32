// The formats of files of users.
import type { User } from '../../../src/store/user-store.ts'
import { UsageError } from '../program.ts'
import { CSV_TITLES, csvLine, readCsv } from './csv.ts'
import { fieldsFrom } from './fields.ts'
import { readJson } from './json.ts'
import { readNdjson } from './ndjson.ts'
import { NO_SPREADSHEET } from './text.ts'

const json = (user: User) => JSON.stringify(user)
const jsonLine = (user: User) => `${JSON.stringify(user)}\n`

/** How a file is read, and what is written: at its start, for each user, between users, at its end. */
const FORMATS = {
  csv: { read: readCsv, start: CSV_TITLES, user: csvLine, between: '', end: '' },
  ndjson: { read: fieldsFrom(readNdjson), start: '', user: jsonLine, between: '', end: '' },
  json: { read: fieldsFrom(readJson), start: '[\n', user: json, between: ',\n', end: '\n]\n' },
}
export type Format = (typeof FORMATS)[keyof typeof FORMATS]

const SPREADSHEETS = ['xlsx', 'xls', 'xlsm', 'ods', 'numbers']

/**
 * The format of `file`, by its name.
 *
 * @param given the format in `--format`, if any
 * @throws UsageError the format is not known
 */
export function formatOf(file: string, given?: string): Format {
  const extension = /\.(\w+?)(?:\.gz)?$/.exec(file.toLowerCase())?.[1]
  const name = given ?? (extension === 'jsonl' ? 'ndjson' : extension)
  if (name && Object.hasOwn(FORMATS, name)) return FORMATS[name as keyof typeof FORMATS]
  if (name && SPREADSHEETS.includes(name)) throw new UsageError(NO_SPREADSHEET)
  throw new UsageError(`--format is needed for ${file}: ${Object.keys(FORMATS).join(', ')}`)
}

/** The text of a file of users. */
export async function* serialize(
  { start, user, between, end }: Format,
  pages: AsyncIterable<User[]>,
): AsyncGenerator<string> {
  yield start
  let separator = ''
  for await (const users of pages) {
    yield separator + users.map(user).join(between)
    separator = between
  }
  yield end
}
