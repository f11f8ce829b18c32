// The formats of files of users.
import { writeLines } from '../../../src/chassis/programs.ts'
import type { User } from '../../../src/store/user-store.ts'
import { UsageError } from '../program.ts'
import { FIELDS } from './columns.ts'
import { csvLine, csvReader } from './csv.ts'
import { ndjsonReader } from './ndjson.ts'

/** How a file is read, what an export begins with, and how a user is written. */
const FORMATS = {
  csv: { reader: csvReader, start: `${FIELDS.join(',')}\r\n`, write: csvLine },
  ndjson: { reader: ndjsonReader, start: '', write: (user: User) => writeLines([user]) },
}

/**
 * The format of `file`, by its name.
 *
 * @param given the format in `--format`, if any
 * @param advice the end of the message if the format is not known
 * @throws UsageError
 */
export function formatOf(file: string, given?: string, advice = '') {
  const name = given ?? /\.(\w+)$/.exec(file.toLowerCase().replace(/jsonl$/, 'ndjson'))?.[1]
  if (name && Object.hasOwn(FORMATS, name)) return FORMATS[name as keyof typeof FORMATS]
  throw new UsageError(`${given ?? file} is neither .csv nor .ndjson. ${GIVE_FORMAT}${advice}`)
}

const GIVE_FORMAT = 'If it should be, give --format csv or ndjson.'
