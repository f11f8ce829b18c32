#!/usr/bin/env node
// Writes all users of the configured store to a file, page by page.
import { loadConfig } from '../../src/config.ts'
import { openExisting } from '../../src/store/open.ts'
import { pagesOf } from '../../src/store/pages.ts'
import type { User } from '../../src/store/user-store.ts'
import { fileAt, program, STOPPED, stopSignal, STORE, UsageError, warn } from './program.ts'
import { openOutput } from './transfer/file.ts'
import { formatOf, serialize } from './transfer/formats.ts'
import { startProgress } from './transfer/progress.ts'

const USAGE = `usage: export-users [options] FILE

Writes all users to FILE: .csv, .ndjson or .json; add .gz to compress it. Use '-' for standard output.
import-users reads such a file, and stores the same users with the same ids in the same order.

  --format FORMAT  csv, ndjson or json; by default what the file name says, and ndjson for '-'
  --force          overwrite FILE if it exists
  --help

${STORE}
Exit codes: 0 all users were written; 1 they were not; 2 wrong options; 130 stopped by Ctrl-C.`

const OPTIONS = { format: { type: 'string' }, force: { type: 'boolean' } } as const

await program(USAGE, OPTIONS, async (options, [path, ...more]) => {
  if (path === undefined || more.length > 0) throw new UsageError('give one FILE')
  const file = fileAt(path)
  const format = formatOf(file, options.format ?? (file === '-' ? 'ndjson' : undefined))
  const store = await openExisting(loadConfig(false, warn))
  if (!store) throw new Error('there are no users: check MONGODB_URI or DATA_DIR')
  const output = openOutput(file, options.force ?? false)
  warn(`users are kept in ${store.description}`)
  let users = 0
  const progress = startProgress(() => ({ users }))

  async function* pages(): AsyncGenerator<User[]> {
    for await (const page of pagesOf(store!)) {
      yield page
      users += page.length
    }
  }

  const signal = stopSignal()
  try {
    await output(serialize(format, pages()), signal)
  } catch (error) {
    if (!signal.aborted) throw error
    warn('stopped: not all users were written')
    return STOPPED
  } finally {
    progress.stop()
    await store.close()
  }
  warn(`exported ${users.toLocaleString('en')}; ${progress.rate()}`)
  return 0
})
