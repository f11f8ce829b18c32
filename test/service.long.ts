// The built programs, as people run them: the environment, stops and output. (One start and stop: service.test.ts.)
import { expect, test } from '@jest/globals'
import { chmodSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { postHead } from './support/service.ts'
import { serve, started } from './support/program.ts'
import { dial, listen } from './chassis/support/app.ts'
import { databaseOf, SECRET, sqlitePlace } from './support/stores.ts'
import { useScripts } from './support/scripts.ts'

const { at, file } = useScripts()

test('the service exits with 1 and one clear line for each variable that is wrong, or for a port, host or folder that it cannot use', async () => {
  const other = createServer()
  const port = await listen(other)
  const refused = async (environment: Record<string, string>) => {
    const service = serve(at(sqlitePlace), environment)
    return { code: await service.ended, stderr: service.output.stderr }
  }
  const says = (line: RegExp) => ({ code: 1, stderr: expect.stringMatching(line) })
  const [variables, ...others] = await Promise.all([
    refused({ PORT: 'x', LOG_LEVEL: 'x' }),
    refused({ PORT: `${port}` }),
    refused({ OPS_HOST: '192.0.2.1' }),
    refused({ DATA_DIR: join(file('file', ''), 'data') }),
  ])
  const both = /^(PORT must.*\nLOG_LEVEL must.*\n|LOG_LEVEL must.*\nPORT must.*\n)$/
  expect(variables).toEqual(says(both))
  expect(others).toEqual([
    says(/^cannot listen on HOST and PORT: .*address already in use 127\.0\.0\.1:\d+\n$/),
    says(/^cannot listen on OPS_HOST \(or HOST\) and OPS_PORT: .* 192\.0\.2\.1\n$/),
    says(/^cannot keep users in the folder .* \(DATA_DIR\): .+\n$/),
  ])
  other.close()
})

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
