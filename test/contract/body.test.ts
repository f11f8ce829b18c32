// The bodies of requests, without the operations. (What is refused of them, and why: api.test.ts.)
import { expect, test } from '@jest/globals'
import Koa from 'koa'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { bodyReader } from '../../src/contract/body.ts'
import { operationOf } from '../../src/contract/document.ts'
import { answerErrors } from '../../src/errors.ts'
import { Budget } from '../../src/http/budget.ts'
import { LIMITS } from '../../src/http/limits.ts'

const createUser = operationOf('createUser')

/** The statuses of requests with `bodies` to an app whose limit is `limit`. */
async function statuses(limit: number, bodies: (string | Buffer | ReadableStream)[]) {
  const app = new Koa()
  answerErrors(app)
  const read = bodyReader(createUser, limit, new Budget(LIMITS.memory, LIMITS.smallPart))
  app.use(async (ctx) => {
    await read(ctx)
    ctx.status = 204
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const found = []
  for (const body of bodies) {
    const coding = Buffer.isBuffer(body) ? { 'Content-Encoding': 'gzip' } : {}
    const headers = { 'Content-Type': 'application/json', ...coding }
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit)
    found.push(answer.status)
    await answer.text()
  }
  server.closeAllConnections()
  server.close()
  return found
}

const chunked = (text: string) => new Blob([text]).stream() as ReadableStream

test.each([10, 100, 2_000_000])('a limit of %d is that, however the body comes', async (limit) => {
  const [fits, exceeds] = [limit, limit + 1].map((n) => `{${' '.repeat(n - 2)}}`)
  expect(await statuses(limit, [fits!, chunked(fits!)])).toEqual([204, 204])
  expect(await statuses(limit, [exceeds!, chunked(exceeds!), gzipSync(exceeds!)])).toEqual([
    413, 413, 413,
  ])
})
