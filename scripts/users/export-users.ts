#!/usr/bin/env node
// Writes all users of the configured store to a file, page by page.
import { createWriteStream } from 'node:fs'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { loadConfig } from '../../src/chassis/programs.ts'
import { programVariables } from '../../src/config.ts'
import { openExisting } from '../../src/store/open.ts'
import { pagesOf } from '../../src/store/pages.ts'
import type { User } from '../../src/store/user-store.ts'
import { outputAt, program, STOPPED, stopSignal, STORE, UsageError, warn } from './program.ts'
import { makeFile } from './file.ts'
import { formatOf } from './transfer/formats.ts'
import { startProgress } from './transfer/progress.ts'

const USAGE = `usage: export-users [--format FORMAT] FILE

Writes all users to a new FILE, .csv or .ndjson; '-' is standard output.
import-users stores the same users again, with the same ids in the same order.

  --format FORMAT  csv or ndjson; by default what the name of the file says,
                   and ndjson for '-'

${STORE}
Exit codes: 0 all users were written; 1 not all; 2 wrong usage; 130 Ctrl-C.`

const OPTIONS = { format: { type: 'string' } } as const

await program(USAGE, OPTIONS, async (options, [path, ...more]) => {
  if (path === undefined || more.length > 0) throw new UsageError('give one FILE')
  const file = outputAt(path)
  const format = formatOf(file === '-' ? '.ndjson' : file, options.format)
  const store = await openExisting(loadConfig(programVariables))
  if (!store) throw new Error('there are no users: check MONGODB_URI or DATA_DIR')
  let users = 0
  const stopProgress = startProgress(() => users)

  async function* textOf(pages: AsyncIterable<User[]>) {
    let start = format.start // nothing is written before there is a page, perhaps an empty one
    for await (const page of pages) {
      yield start + page.map(format.write).join('')
      start = ''
      users += page.length
    }
  }

  const signal = stopSignal()
  try {
    const writeTo = (output: Writable) => pipeline(textOf(pagesOf(store)), output, { signal })
    if (file === '-') await writeTo(process.stdout)
    else await makeFile(file, (temporary) => writeTo(createWriteStream(temporary, { flush: true })))
  } catch (error) {
    if (!signal.aborted) throw error
    warn('stopped: not all users were written')
    return STOPPED
  } finally {
    stopProgress()
    await store.close()
  }
  warn(`users are kept in ${store.description}`)
  warn(`exported ${users.toLocaleString('en')}`)
  return 0
})
