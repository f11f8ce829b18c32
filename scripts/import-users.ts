#!/usr/bin/env node
// Stores the users of a file in the configured store, in constant memory.
import { addAbortSignal } from 'node:stream'
import { readConfig } from '../src/config.ts'
import { openStore } from '../src/store/open.ts'
import { StoreFailure } from '../src/store/user-store.ts'
import { program, STOPPED, stopSignal, UsageError } from './program.ts'
import { readCsv } from './transfer/csv.ts'
import { formatOf, openInput } from './transfer/file.ts'
import { importUsers, type Tally } from './transfer/import.ts'
import { readJson } from './transfer/json.ts'
import { readNdjson } from './transfer/ndjson.ts'
import { perSecond, startProgress } from './transfer/progress.ts'
import { openReport } from './transfer/report.ts'
import { readText } from './transfer/text.ts'
import { openTrial } from './transfer/trial.ts'

const USAGE = `usage: import-users [options] FILE

Stores the users of FILE, a .csv, .ndjson or .json, each of them gzip or not; - is standard input.
A user has a name, an email and, if it was exported, an id. One that is there already is left alone.
Stopped at any moment and run again, it goes on. Without an email, a user is known again by the name: as
many lines with a name as there are such users stand for them.

  --update              give a user whose email is there already the name in the file
  --dry-run             store nothing, and tell what would be stored
  --new-ids             do not keep the ids in the file
  --report FILE         where to tell of each line that is not stored; if not given, FILE.report.txt, or
                        of what is no file, standard error, which is -
  --format FORMAT       csv, ndjson or json; what the name of the file says if not given
  --encoding NAME       such as windows-1252; UTF-8, or UTF-16 by its byte order mark, if not given
  --name-column TITLE   the title of the column of names in a CSV file; '' if there is none
  --email-column TITLE  the title of the column of emails; '' if there is none
  --help

The store is that of the service: MONGODB_URI, else DATA_DIR.
Exit codes: 0 the file was read to its end, 1 it was not, 2 wrong options, 130 stopped by Ctrl-C.`

const OPTIONS = {
  update: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  'new-ids': { type: 'boolean' },
  report: { type: 'string' },
  format: { type: 'string' },
  encoding: { type: 'string' },
  'name-column': { type: 'string' },
  'email-column': { type: 'string' },
} as const

await program(USAGE, OPTIONS, async (options, [file, ...more]) => {
  if (file === undefined || more.length > 0) throw new UsageError('one FILE is needed')
  const format = formatOf(file, options.format)
  const columns = { name: options['name-column'], email: options['email-column'] }
  const encoding = encodingOf(options.encoding)
  const input = openInput(file)
  const stop = stopSignal()
  addAbortSignal(stop, input.bytes)
  const text = readText(input.bytes, encoding)
  const open = options['dry-run'] ? openTrial : openStore
  const store = await open(readConfig(process.env, false))
  const report = openReport(options.report, input.report, input.stat)

  const tally: Tally = { created: 0, updated: 0, duplicate: 0, refused: 0, line: 0 }
  const began = performance.now()
  const progress = startProgress(() => ({ users: total(tally), part: input.part() }))
  let failure: Error | undefined
  try {
    const lines = { csv: readCsv, ndjson: readNdjson, json: readJson }[format](text, columns)
    const given = {
      store,
      update: options.update ?? false,
      newIds: options['new-ids'] ?? false,
      report: report.tell,
      stop,
    }
    await importUsers(lines, given, tally)
  } catch (error) {
    if (!stop.aborted || error instanceof StoreFailure) failure = error as Error
  }
  progress.stop()
  await store.close().catch((error: Error) => (failure ??= error))
  const seconds = (performance.now() - began) / 1000
  const verb = options['dry-run'] ? 'would be ' : ''
  console.log(`${verb}${summary(tally, seconds)}${report.close()}`)
  if (failure) throw brokenOff(failure, tally)
  if (!stop.aborted) return 0
  console.error(`stopped behind line ${tally.line}: run it again to go on`)
  return STOPPED
})

function brokenOff(failure: Error, { line }: Tally): Error {
  const unknown = failure instanceof StoreFailure ? '; some that follow may be stored' : ''
  return new Error(`${failure.message} (behind line ${line}${unknown})`, { cause: failure })
}

function total({ created, updated, duplicate, refused }: Tally): number {
  return created + updated + duplicate + refused
}

function summary(tally: Tally, seconds: number): string {
  const { created, updated, duplicate, refused } = tally
  const parts = { created, updated, duplicate, refused }
  const counts = Object.entries(parts).map(
    ([what, count]) => `${what} ${count.toLocaleString('en')}`,
  )
  return `${counts.join(', ')}; ${seconds.toFixed(1)} s, ${perSecond(total(tally), seconds)}`
}

function encodingOf(name: string | undefined): string | undefined {
  try {
    return name && new TextDecoder(name).encoding
  } catch {
    throw new UsageError(`--encoding ${name} is not known`)
  }
}
