#!/usr/bin/env node
// Stores the users of a file in the configured store, in constant memory.
import { dirname, resolve } from 'node:path'
import { addAbortSignal } from 'node:stream'
import { loadConfig } from '../../src/config.ts'
import { openStore } from '../../src/store/open.ts'
import { StoreFailure } from '../../src/store/failure.ts'
import { fileAt, print, program, STOPPED, stopSignal, STORE, UsageError, warn } from './program.ts'
import { openDryRun } from './transfer/dry-run.ts'
import { openInput } from './transfer/file.ts'
import { formatOf } from './transfer/formats.ts'
import { importUsers, newTally, type Tally } from './transfer/import.ts'
import { startProgress } from './transfer/progress.ts'
import { openReport } from './transfer/report.ts'
import { readText } from './transfer/text.ts'
import { KNOWN_TITLES } from './transfer/titles.ts'

const USAGE = `usage: import-users [options] FILE

Stores the users of FILE: .csv (.tsv, .txt), .ndjson or .json, also with .gz. Use '-' for standard input.
A user has a name, an email and, in a file from export-users, an id. Users who are stored with the same
name and email are counted as unchanged, so an import that was stopped can be run again. Only users without
an email and without an id are then created a second time. A duplicate, whose email or id another user has,
is not stored.

  --update              give a user whose email is in the store the name in the file, unless it is empty
  --dry-run             store nothing; print what an import would do, if no other unique index of MongoDB
                        refuses a user
  --new-ids             ignore the ids in the file
  --report FILE         where to list each line that was refused, is a duplicate or renamed a user; '-' is
                        standard error. By default FILE.report.txt, and '-' for standard input
  --force               overwrite the file in --report, even if it is not an earlier report
  --format FORMAT       csv, ndjson or json; by default what the file name says
  --encoding NAME       such as windows-1252 or shift_jis; by default UTF-8 or UTF-16
  --name-column TITLE   the title of the column of names, or the key in JSON; '' if there is none. Give it
                        again for each part of a name: --name-column Voornaam --name-column Achternaam
  --email-column TITLE  the title of the column of emails; '' if there is none. 'Email (2)' is the second
                        column with the title Email
  --help

The first line of a CSV file has the titles of its columns, in any order. import-users prints which columns
or keys it uses, and which it does not, to standard error. Parts of a name are joined, where no full name
is. These titles are known; letter case, accents, spaces, punctuation, plurals, numbers and words in
brackets make no difference:
${KNOWN_TITLES}

A line without an id of the service is refused if it seems to be no user: a footer, titles, an email in
another column. NULL, \\N, #N/A and the like are no email.

${STORE}
Exit codes: 0 all users are stored; 1 lines were refused, duplicates differ or the import failed; 2 wrong
options; 130 stopped by Ctrl-C.`

const OPTIONS = {
  update: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  'new-ids': { type: 'boolean' },
  report: { type: 'string' },
  force: { type: 'boolean' },
  format: { type: 'string' },
  encoding: { type: 'string' },
  'name-column': { type: 'string', multiple: true },
  'email-column': { type: 'string' },
} as const

await program(USAGE, OPTIONS, async (options, [path, ...more]) => {
  if (path === undefined || more.length > 0) throw new UsageError('give one FILE')
  const file = fileAt(path)
  const format = formatOf(file.replace(/\.(tsv|txt)(?=$|\.gz$)/i, '.csv'), options.format)
  const columns = { name: options['name-column'], email: options['email-column'] }
  const encoding = options.encoding && new TextDecoder(options.encoding).encoding
  const reportFile = options.report && fileAt(options.report)
  const input = openInput(file)
  const signal = stopSignal()
  addAbortSignal(signal, input.bytes)
  const open = options['dry-run'] ? openDryRun : openStore
  const config = loadConfig(false, warn)
  if (reportFile && dirname(resolve(reportFile)) === resolve(config.DATA_DIR))
    throw new UsageError(`a report must not be in ${config.DATA_DIR} (DATA_DIR)`)
  const report = openReport(reportFile, input.defaultReport, input.stat, options.force)
  const store = await open(config).catch((error: unknown) => {
    report.close()
    throw error
  })
  warn(`users are kept in ${store.description}`)

  const tally = newTally()
  const users = () => Object.values(tally.counts).reduce((sum, n) => sum + n)
  const progress = startProgress(() => ({ users: users(), fraction: input.fraction() }))
  let failure: Error | undefined
  try {
    const lines = format.read(readText(input.bytes, encoding), columns, warn)
    const { update = false, 'new-ids': newIds = false } = options
    await importUsers(lines, { store, update, newIds, report: report.add, signal, tally })
  } catch (error) {
    if (!signal.aborted || error instanceof StoreFailure) failure = error as Error
  }
  progress.stop()
  await store.close().catch((error: Error) => (failure ??= error))
  for (const [note, count] of tally.notes) warn(`${note}: ${count.toLocaleString('en')}`)
  if (tally.first) warn(`first user: ${JSON.stringify(tally.first)}`)
  const prefix = options['dry-run'] ? 'would be ' : ''
  await print(`${prefix}${summary(tally)}; ${progress.rate()}${report.close()}`)
  if (failure) throw withPosition(failure, tally)
  if (!signal.aborted) return tally.counts.refused + tally.counts.duplicate > 0 ? 1 : 0
  warn(`stopped${tally.lastLine && ` after ${tally.lastLine}`}: run it again to continue`)
  return STOPPED
})

function summary({ counts }: Tally): string {
  const parts = Object.entries(counts).map(([what, n]) => `${what} ${n.toLocaleString('en')}`)
  return parts.join(', ')
}

function withPosition(failure: Error, { lastLine }: Tally): Error {
  const unknown = failure instanceof StoreFailure && 'some of the next users may be stored'
  const position = [lastLine && `after ${lastLine}`, unknown].filter(Boolean).join('; ')
  return position ? new Error(`${failure.message} (${position})`, { cause: failure }) : failure
}
