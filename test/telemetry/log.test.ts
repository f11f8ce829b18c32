// The log itself: what is written, and when. (What is logged of a request is in server.test.ts.)
import { expect, test } from '@jest/globals'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLogger, readable } from '../../src/telemetry/log.ts'
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

const CONTROLS = /(?!\n)\p{Cc}/u
const path = '/\x9b31m\x7f\x80\x1b[2J\r\x07é'

test('lines have no control characters, and keep what they say', () => {
  const lines: string[] = []
  const log = createLogger('info', undefined, { write: (line) => void lines.push(line) })
  log.info({ path }, 'request')
  expect(lines[0]).not.toMatch(CONTROLS)
  expect(JSON.parse(lines[0]!)).toMatchObject({ path, msg: 'request' })
})

test('a terminal gets one line, however much it says', () => {
  const fields = { id: 'x'.repeat(100), user: 'y'.repeat(100), location: 'z\n'.repeat(100) }
  const line = readable(JSON.stringify({ time: 0, level: 30, msg: 'request', ...fields }))
  expect(line).toMatch(/^.*\n$/)
})

test('a terminal gets no control characters of a request or an error', () => {
  const request = { time: 0, level: 30, msg: 'request', method: 'GET', path, status: 404, ms: 1 }
  const failure = { time: 0, level: 50, msg: path, err: { message: path, stack: `${path}\n at x` } }
  const [text = '', ...rest] = [request, failure].map((line) => readable(JSON.stringify(line)))
  expect(text).toMatch(/ GET \/\\u009b31m\\u007f\\u0080\\u001b\[2J\\u000d\\u0007é 404 1 ms \n$/)
  const colours = /\x1b\[\d+m/g // eslint-disable-line -- those that Node's inspect adds
  for (const line of [text, ...rest]) expect(line.replace(colours, '')).not.toMatch(CONTROLS)
  expect(rest[0]).toContain('\n at x\n')
})
