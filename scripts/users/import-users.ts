#!/usr/bin/env node
// Stores the users of a file in the configured store, in constant memory.
import { loadConfig } from '../../src/chassis/programs.ts'
import { programVariables } from '../../src/config.ts'
import type { components } from '../../src/openapi.ts'
import { databaseIn, openStore } from '../../src/store/open.ts'
import type { NewUser, UserStore } from '../../src/store/user-store.ts'
import { fileAt, print, program, STOPPED, stopSignal, STORE, UsageError, warn } from './program.ts'
import { parseTemplate } from './transfer/columns.ts'
import { checkPlace, openInput } from './file.ts'
import { formatOf } from './transfer/formats.ts'
import { importUsers } from './transfer/import.ts'
import { USE_JQ } from './transfer/ndjson.ts'
import { startProgress } from './transfer/progress.ts'
import { userIn } from './transfer/users.ts'

const USAGE = `usage: import-users [options] FILE

Stores the users of FILE, .csv or .ndjson, in UTF-8; '-' is standard input.
Titles (or keys) other than name, email and perhaps id are printed; name them:

  --name TEMPLATE   titles in braces, with blanks and commas between them,
                    such as '{First Name} {Last Name}'; '' for no name
  --email TEMPLATE  '{Email (2)}' is a second Email, '{column 3}' a third column
  --dry-run         print the first user, count, and store nothing
  --update          give a user whose email is stored the name in the file
  --new-ids         ignore the ids in the file
  --format FORMAT   csv or ndjson; by default what the name of the file says

Refused rows, duplicates that differ and renamed users are lines on standard
error. Stored users stay as they are: an import can be run again.

${STORE}
Exit codes: 0 all users are stored; 1 some are not, or the counts could not be
printed; 2 wrong usage; 130 Ctrl-C.`

const OPTIONS = {
  name: { type: 'string' },
  email: { type: 'string' },
  'dry-run': { type: 'boolean' },
  update: { type: 'boolean' },
  'new-ids': { type: 'boolean' },
  format: { type: 'string' },
} as const satisfies Flags & Record<keyof Fields | 'format', { type: 'string' }>

/** There is a template for each. */
type Fields = components['schemas']['UserFields']

type Flags = Record<'dry-run' | 'update' | 'new-ids', { type: 'boolean' }>

const CONVERT = `\nSave a spreadsheet as CSV (UTF-8). Unpack with gunzip FILE.\n${USE_JQ}`

Error.stackTraceLimit = 0 // each email that is taken is an error

await program(USAGE, OPTIONS, async (options, [path, ...more]) => {
  if (path === undefined || more.length > 0) throw new UsageError('give one FILE')
  const { 'dry-run': isDryRun, update = false, 'new-ids': newIds = false, ...others } = options
  const { format: given, ...texts } = others
  const named = Object.entries(texts) as [keyof typeof texts, string][]
  const templates = named.map(([field, text]) => parseTemplate(field, text))
  const missing = (['name', 'email'] as const).find((field) => texts[field] === undefined)
  if (templates.length > 0 && missing)
    throw new UsageError(`give both --name and --email: --${missing} is missing`)
  const file = fileAt(path)
  const format = formatOf(file.replace(/\.(tsv|txt)$/i, '.csv'), given, CONVERT)
  const config = loadConfig(programVariables)
  const input = openInput(file)

  const counts = { created: 0, updated: 0, unchanged: 0, duplicate: 0, refused: 0 }
  const stopProgress = startProgress(() => Object.values(counts).reduce((sum, n) => sum + n))
  function summary(): string {
    const parts = Object.entries(counts).map(([what, n]) => `${what} ${n.toLocaleString('en')}`)
    return `${isDryRun ? 'if no email or id is taken, would be ' : ''}${parts.join(', ')}`
  }
  stopSignal().addEventListener('abort', () => {
    stopProgress()
    console.log(summary())
    warn('stopped: run the import again to continue')
    process.exit(STOPPED)
  })

  let store: UserStore | undefined
  async function begin(user: NewUser, fields: string[]): Promise<UserStore | undefined> {
    const columns = fields.map((field) => `${field} ${texts[field as 'name'] ?? ''}`.trim())
    await print(`columns: ${columns.join(', ')}\nfirst user: ${JSON.stringify(user)}`)
    if (isDryRun) return undefined
    if (!config.MONGODB_URI) checkPlace(databaseIn(config.DATA_DIR))
    store = await openStore(config, { isProgram: true })
    await print(`users are kept in ${store.description}`)
    return store
  }

  const failure = await importUsers(input, {
    reader: format.reader(templates),
    userIn: (row) => userIn(row, newIds, format.write),
    update,
    begin,
    report: (line, what) => warn(`line ${line}: ${what}`),
    counts,
  }).catch((error: Error) => error)
  stopProgress()
  if (failure instanceof UsageError) throw failure
  await print(summary())
  await store?.close()
  if (failure) throw failure
  return counts.refused + counts.duplicate > 0 ? 1 : 0
})
