// The built programs, as people run them: what they say, and a stop that lasts. (One start and stop: service.test.ts; starts that
// fail: chassis/start.test.ts and config.test.ts.)
import { expect, test } from '@jest/globals'
import { chmodSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { postHead } from './support/service.ts'
import { serve, started } from './support/program.ts'
import { dial, listen } from './chassis/support/app.ts'
import { databaseOf, SECRET, sqlitePlace } from './support/stores.ts'
import { useScripts } from './support/scripts.ts'

const { at } = useScripts()

test('the log warns of a folder that every account, not only a group, can write to', async () => {
  const warnings = [0o777, 0o770].map(async (mode) => {
    const place = at(sqlitePlace)
    chmodSync(place.DATA_DIR, mode)
    const { output } = await started(place)
    return output.stdout.match(/(?<="warn".*)every account can write to \//g)
  })
  expect(await Promise.all(warnings)).toEqual([['every account can write to /'], null])
})

test('the page is where the log says, also with BASE_PATH', async () => {
  const { output } = await started(at(sqlitePlace), { BASE_PATH: '/api' })
  const page = /try it at ([^"]+)/.exec(output.stdout)![1]!
  expect((await fetch(page)).status).toBe(200)
})

test('a stop takes no more than STOP_TIMEOUT with a slow client, a foreign writer and a collector that hangs', async () => {
  const place = at(sqlitePlace)
  const collector = createServer(() => {})
  const { output, stop, ...service } = serve(place, {
    SIGNING_SECRET: SECRET,
    STOP_TIMEOUT: '8s',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await listen(collector)}`,
  })
  const url = await service.listening()
  await (await fetch(`${url}/nothing`)).text() // has a trace
  const { socket, text } = dial(Number(new URL(url).port))
  socket.write(postHead('Content-Length: 15\r\nExpect: 100-continue\r\n'))
  while (!text().includes('100 Continue')) await sleep(5)
  const writer = databaseOf(place)
  writer.exec('BEGIN IMMEDIATE')
  expect(await stop()).toBe(0)
  // By the log: the process may wait for its turn to exit.
  const times = [...output.stdout.matchAll(/"time":"([^"]+)","msg":"(?:SIGTERM|stopped)/g)]
  const [start, end] = times.map(([, time]) => Date.parse(time!))
  expect(end! - start!).toBeLessThan(8_800)
  expect(text()).not.toContain('HTTP/1.1 400')
  const warnings = [...output.stdout.matchAll(/"level":"warn".*"msg":"(.*)"\}/g)]
  expect(warnings.map(([, text]) => text)).toEqual([
    'response aborted',
    'STOP_TIMEOUT is over: requests in flight were cut off',
    'STOP_TIMEOUT is over: the store was not closed, or traces were not sent',
  ])
  writer.close()
  collector.close()
})
