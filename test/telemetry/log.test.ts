// The log itself: what is written, and when. (What is logged of a request is in server.test.ts.)
import { expect, test } from '@jest/globals'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runToEnd } from '../support/program.ts'
import { sqlitePlace } from '../support/stores.ts'

test('all lines of one turn are written when standard output takes them, however many', async () => {
  const place = sqlitePlace()
  const file = join(place.dataDir, 'log')
  const script = `
    import { createLogger } from '${new URL('../../dist/src/telemetry/log.js', import.meta.url).href}'
    const log = createLogger('info', () => (dropped += 1))
    let dropped = 0
    for (let i = 0; i < 300; i += 1) log.info({ path: 'x'.repeat(15_000) }, 'line')
    setImmediate(() => log.info({ dropped }, 'end'))`
  const stdio = ['ignore', openSync(file, 'w'), 'inherit']
  runToEnd(process.execPath, ['--input-type=module', '--eval', script], { stdio })
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  expect(lines.length).toBe(301)
  expect(JSON.parse(lines.at(-1)!)).toMatchObject({ msg: 'end', dropped: 0 })
  await place.remove()
})
