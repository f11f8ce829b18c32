// The log of a process: what a file and a pipe get, and what is dropped. (Its lines: log.test.ts.)
import { afterAll, expect, test } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { killPrograms, serve } from './support/program.ts'
import { send } from './support/service.ts'
import { sqlitePlace } from './support/stores.ts'

const place = sqlitePlace()
const file = join(place.DATA_DIR, 'log')
const loggers: ChildProcess[] = []
afterAll(async () => {
  for (const logger of loggers) logger.kill('SIGKILL')
  await killPrograms()
  await place.remove()
})

const LINES = 30_000

/**
 * Logs `LINES` lines, prints how many it dropped and how much memory it took, in bytes, and goes on, unless it has an argument;
 * once its input ends, logs the last line, exits, and prints how many of all it dropped.
 */
const LOGGER = `
  import { createLogger } from '${new URL('../dist/src/chassis/telemetry/log.js', import.meta.url).href}'
  let dropped = 0
  let all = ${LINES} + 1
  const log = createLogger('info', () => (dropped += 1))
  const memory = () => {
    gc()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = memory()
  for (let i = 0; i < ${LINES}; i += 1) log.info({ path: 'x'.repeat(i < 300 ? 15_000 : 100) }, 'line')
  console.error(dropped, memory() - before)
  setInterval(() => {
    if (process.argv[1]) return // nothing more is logged
    all += 2
    // The second waits until the log is flushed: so no text is empty, or small enough for what space is left.
    for (const length of [4_096, 3_900]) log.info({ path: 'x'.repeat(length) }, 'more')
  }, 10)
  process.on('exit', () => console.error(dropped, all))
  process.stdin.resume().on('end', () => {
    log.info('end')
    process.exit()
  })`

function startLogger(stdout: 'pipe' | number, ...quiet: string[]) {
  const args = ['--expose-gc', '--input-type=module', '--eval', LOGGER, ...quiet]
  const logger = spawn(process.execPath, args, { stdio: ['pipe', stdout, 'pipe'] })
  loggers.push(logger)
  return logger
}

const messagesIn = (log: string): string[] =>
  log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).msg)

const withoutMore = (messages: string[]) => messages.filter((message) => message !== 'more')

/** Ends the logger when it has printed its first numbers. Returns all four. */
async function numbersOf(logger: ChildProcess): Promise<number[]> {
  const printed = await text(logger.stderr!.once('data', () => logger.stdin!.end()))
  return printed.trim().split(/\s/).map(Number)
}

test('a file gets all lines', async () => {
  const logger = startLogger(openSync(file, 'w'))
  const [, , dropped, all] = await numbersOf(logger)
  const messages = messagesIn(readFileSync(file, 'utf8'))
  expect(withoutMore(messages)).toEqual([...Array(LINES).fill('line'), 'end'])
  expect([dropped, messages.length]).toEqual([0, all])
})

// SECURITY.md: Log lines that cannot be written
test.each([
  ['more are logged', []],
  ['nothing more is logged', ['quiet']],
])(
  'a pipe gets whole lines when its reader is slow, while %s, except those that are counted as dropped',
  async (_, quiet) => {
    const logger = startLogger('pipe', ...quiet)
    const [printed] = await once(logger.stderr!.setEncoding('utf8'), 'data')
    const [first, memory] = printed.split(' ').map(Number)
    await sleep(500) // all space is taken: if more lines are logged, they are dropped, too
    const numbers = text(logger.stderr!)
    const closed = once(logger, 'close')
    let read = ''
    logger.stdout!.setEncoding('utf8').on('data', (chunk) => (read += chunk))
    while (read.length < 1024 * 1024) await sleep(10) // more than the pipe takes
    await sleep(1_000) // the reader catches up: what waits at the exit would be lost
    logger.stdin!.end()
    await closed
    const [dropped, all] = (await numbers).split(/\s/).map(Number)
    const messages = messagesIn(read)
    expect(first).toBeGreaterThan(20_000)
    expect(memory).toBeLessThan(2 * 1024 * 1024)
    const others = withoutMore(messages)
    expect(others).toEqual([...Array(others.length - 1).fill('line'), 'end'])
    if (quiet.length === 0) expect(dropped).toBeGreaterThan(first)
    expect(dropped! + messages.length).toBe(all)
  },
  20_000,
)

test('when the disk is full, lines are counted as dropped, and the program ends', async () => {
  const logger = startLogger(openSync('/dev/full', 'w'))
  const ended = once(logger, 'exit')
  const [dropped] = await numbersOf(logger)
  expect(dropped).toBeGreaterThan(20_000)
  expect(await ended).toEqual([0, null])
})

test('the service serves while nobody reads its log, and counts the lines that are dropped', async () => {
  const service = serve(place)
  const port = Number(new URL(await service.listening()).port)
  service.process.stdout!.pause().removeAllListeners('data')
  const headers = { 'x-request-id': 'x'.repeat(128) }
  const client = async () => {
    for (let i = 0; i < 60; i += 1)
      expect((await send(port, 'GET /nothing', { headers })).status).toBe(404)
  }
  await Promise.all(Array.from({ length: 100 }, client))
  const metrics = (await service.probe('/metrics')).text
  expect(metrics).toMatch(/^log_lines_dropped_total [1-9]/m)
  service.process.kill('SIGTERM')
  expect(await once(service.process, 'exit')).toEqual([0, null])
})
