// The log itself: what is written, and when. (What is logged of a request is in server.test.ts.)
import { afterAll, expect, test } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { createLogger, messageOf, prettyPrint } from '../../src/telemetry/log.ts'
import { killPrograms, serve } from '../support/program.ts'
import { send } from '../support/service.ts'
import { sqlitePlace } from '../support/stores.ts'

const place = sqlitePlace()
const file = join(place.DATA_DIR, 'log')
const loggers: ChildProcess[] = []
afterAll(async () => {
  for (const logger of loggers) logger.kill('SIGKILL')
  await killPrograms()
  await place.remove()
})

/** Logs 300 lines of 15 KB, prints how many it dropped, and once its input ends, logs the last line and exits. */
const LOGGER = `
  import { createLogger } from '${new URL('../../dist/src/telemetry/log.js', import.meta.url).href}'
  let dropped = 0
  const log = createLogger('info', () => (dropped += 1))
  for (let i = 0; i < 300; i += 1) log.info({ path: 'x'.repeat(15_000) }, 'line')
  console.error(dropped)
  process.stdin.resume().on('end', () => {
    log.info('end')
    process.exit()
  })`

function startLogger(stdout: 'pipe' | number) {
  const args = ['--input-type=module', '--eval', LOGGER]
  const logger = spawn(process.execPath, args, { stdio: ['pipe', stdout, 'pipe'] })
  loggers.push(logger)
  return logger
}

function startUnread() {
  const logger = startLogger('pipe')
  logger.stdout!.destroy()
  return logger
}

test('a file gets all lines', async () => {
  const logger = startLogger(openSync(file, 'w'))
  expect(await json(logger.stderr!.once('data', () => logger.stdin!.end()))).toBe(0)
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([...Array(300).fill('line'), 'end'])
})

test('a pipe gets whole lines when its reader is slow, except those that are counted as dropped', async () => {
  const logger = startLogger('pipe')
  const [dropped] = await once(logger.stderr!, 'data')
  const lines = (text: string) => text.trim().split('\n')
  let text = ''
  for await (const chunk of logger.stdout!.setEncoding('utf8')) {
    text += chunk
    if (lines(text).length === 300 - Number(dropped) && text.endsWith('\n')) logger.stdin!.end()
  }
  expect(Number(dropped)).toBeGreaterThan(200)
  const messages = lines(text).map((line) => JSON.parse(line).msg)
  expect(messages).toEqual([...Array(300 - Number(dropped)).fill('line'), 'end'])
})

test.each([
  ['the disk is full', () => startLogger(openSync('/dev/full', 'w'))],
  ['the reader of the pipe has left', startUnread],
])('when %s, lines are counted as dropped, and the program ends', async (_, start) => {
  const logger = start()
  const ended = once(logger, 'exit')
  const dropped = await json(logger.stderr!.once('data', () => logger.stdin!.end()))
  expect(dropped).toBeGreaterThan(200)
  expect(await ended).toEqual([0, null])
})

test('the service serves while nobody reads its log, and counts the lines that are dropped', async () => {
  const service = serve(place)
  const port = Number(new URL(await service.listening()).port)
  service.process.stdout!.pause().removeAllListeners('data')
  const path = `/${'x'.repeat(500)}`
  const client = async () => {
    for (let i = 0; i < 30; i += 1) expect((await send(port, `GET ${path}`)).status).toBe(404)
  }
  await Promise.all(Array.from({ length: 100 }, client))
  const metrics = (await service.probe('/metrics')).text
  expect(metrics).toMatch(/^log_lines_dropped_total [1-9]/m)
  service.process.kill('SIGTERM')
  expect(await once(service.process, 'exit')).toEqual([0, null])
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
  const line = prettyPrint(JSON.stringify({ time: 0, level: 30, msg: 'request', ...fields }))
  expect(line).toMatch(/^.*\n$/)
})

test('a terminal gets no control characters of a request or an error', () => {
  const request = { time: 0, level: 30, msg: 'request', method: 'GET', path, status: 404, ms: 1 }
  const failure = { time: 0, level: 50, msg: path, err: { message: path, stack: `${path}\n at x` } }
  const [text = '', ...rest] = [request, failure].map((line) => prettyPrint(JSON.stringify(line)))
  expect(text).toMatch(/ GET \/\\u009b31m\\u007f\\u0080\\u001b\[2J\\u000d\\u0007é 404 1 ms \n$/)
  const colours = /\x1b\[\d+m/g // eslint-disable-line -- those that Node's inspect adds
  for (const line of [text, ...rest]) expect(line.replace(colours, '')).not.toMatch(CONTROLS)
  expect(rest[0]).toContain('\n at x\n')
})

test.each([
  [
    'E11000 duplicate key error collection: a.users index: email_1 dup key: { email: "ada@x" }',
    'email_1',
  ],
  [
    'not authorized on a to execute command { find: "users", filter: { email: "ada@x" } }',
    'command',
  ],
  [
    'Index build failed: E11000 dup key: { email: "ada@x" }, found after { email: "ada@x" }',
    'E11000',
  ],
])('of a message of MongoDB, no value is written: %s', (message, end) => {
  expect(messageOf(new Error(message))).toMatch(new RegExp(`${end}$`))
})
