#!/usr/bin/env node
// Writes all users of the configured store to a file, page by page.
import { readConfig } from '../src/config.ts'
import { openExisting } from '../src/store/open.ts'
import type { User } from '../src/store/user-store.ts'
import { program, STOPPED, stopSignal, UsageError } from './program.ts'
import { CSV_HEADER, csv } from './transfer/csv.ts'
import { formatOf, openOutput, type Format } from './transfer/file.ts'
import { jsonLines } from './transfer/json.ts'
import { ndjson } from './transfer/ndjson.ts'
import { perSecond, startProgress } from './transfer/progress.ts'

const USAGE = `usage: export-users [options] FILE

Writes all users to FILE, a .csv, .ndjson or .json, with .gz behind it as gzip; - is standard output.
import-users makes the same users of it, with the same ids, in the same order.

  --format FORMAT  csv, ndjson or json; what the name of the file says if not given, ndjson for -
  --force          write over a file that is there
  --help

The store is that of the service: MONGODB_URI, else DATA_DIR.
Exit codes: 0 all users were written, 1 they were not, 2 wrong options, 130 stopped by Ctrl-C.`

const OPTIONS = { format: { type: 'string' }, force: { type: 'boolean' } } as const

await program(USAGE, OPTIONS, async (options, [file, ...more]) => {
  if (file === undefined || more.length > 0) throw new UsageError('one FILE is needed')
  const format = formatOf(file, options.format ?? (file === '-' ? 'ndjson' : undefined))
  const store = (await openExisting(readConfig(process.env, false))) ?? none()
  const { write } = openOutput(file, options.force ?? false)
  let users = 0
  const began = performance.now()
  const progress = startProgress(() => ({ users }))

  async function* pages(): AsyncGenerator<User[]> {
    for await (const page of store.list()) {
      yield page
      users += page.length
    }
  }

  const stop = stopSignal()
  try {
    await write(textOf(format, pages()), stop)
  } catch (error) {
    if (!stop.aborted) throw error
    console.error('stopped: not all users were written')
    return STOPPED
  } finally {
    progress.stop()
    await store.close()
  }
  const seconds = (performance.now() - began) / 1000
  console.error(
    `exported ${users.toLocaleString('en')}; ${seconds.toFixed(1)} s, ${perSecond(users, seconds)}`,
  )
  return 0
})

function none(): never {
  throw new Error('there are no users: MONGODB_URI or DATA_DIR says where they are')
}

/** What stands before, between and behind the users in each format. */
async function* textOf(format: Format, pages: AsyncIterable<User[]>): AsyncGenerator<string> {
  if (format === 'csv') yield CSV_HEADER
  let opening = format === 'json' ? '[\n' : ''
  for await (const users of pages) {
    if (users.length === 0) continue
    if (format === 'json') {
      yield opening + jsonLines(users)
      opening = ',\n'
    } else {
      yield format === 'csv' ? csv(users) : ndjson(users)
    }
  }
  if (format === 'json') yield opening === '[\n' ? '[]\n' : '\n]\n'
}
