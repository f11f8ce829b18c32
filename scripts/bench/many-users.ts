// Fills a store with many users, through import-users. Shows what that takes, and the size of a SQLite database.
import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { usageOf, WITH_USAGE, type Program } from './server.ts'
import { show } from './table.ts'

const PROGRAM = resolve(import.meta.dirname, '../../../dist/scripts/users/import-users.js')

/** Imports users, and shows the CPU time per user, and users per second, of each tenth. @returns some of them */
export async function importManyUsers(count: number, env: Program['env']) {
  const child = fork(PROGRAM, ['--format', 'ndjson', '-'], {
    ...WITH_USAGE,
    env,
    stdio: ['pipe', 'ignore', 'inherit', 'ipc'],
  })
  show(`\nimport of ${count.toLocaleString('en')} users`, ['µs', 'users/s'])
  const step = Math.ceil(count / 10)
  let last = await usageOf(child)
  for (let i = 1; i <= count; i += 1) {
    const isReady = child.stdin!.write(`${JSON.stringify(userAt(i))}\n`)
    if (!isReady) await once(child.stdin!, 'drain')
    if (i % step > 0) continue
    const now = await usageOf(child)
    const rate = (step * 1000) / (now.ms - last.ms)
    const cpu = (now.cpu - last.cpu) / step
    show(`up to ${i.toLocaleString('en')}`, [cpu.toFixed(1), rate.toFixed(0)])
    last = now
  }
  child.stdin!.end()
  await once(child, 'exit')
  const database = join(env.DATA_DIR, 'users.db')
  if (existsSync(database)) show('bytes per user', [(statSync(database).size / count).toFixed(0)])
  const sample = Math.min(count, 100_000)
  return Array.from({ length: sample }, (_, i) => userAt(Math.ceil(((i + 1) * count) / sample)))
}

/** The user with a number from 1. Ids are in order; emails are in no order, as those of people are. */
function userAt(i: number) {
  const id = (2 ** 46 + i).toString(16).padEnd(24, '0')
  const unique = createHash('sha1').update(id).digest('hex').slice(0, 12)
  return { id, name: 'Grace Hopper', email: `${unique}@example.com` }
}
