// The whole list at once: how soon it begins, how fast it comes, what it costs, who has to wait.
import { once } from 'node:events'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { load, request } from './load.ts'
import type { Server } from './server.ts'

/** Reads the list of `count` users, `readers` at once, while somebody looks a user up again and again. */
export async function measureList(
  server: Server,
  { readers, count, token, id }: { readers: number; count: number; token: string; id: string },
) {
  const { port } = server
  const reading = new AbortController()
  let wrong = 0
  let worstLookUp = 0
  const lookUp = async () => {
    while (!reading.signal.aborted) {
      const next = () => ({ request: request(`GET /users/${id}`, token), status: 200, holds: id })
      const { latencies, wrong: refused } = await load(port, 1, 0.001, next)
      worstLookUp = Math.max(worstLookUp, ...latencies)
      wrong += refused
      await sleep(1)
    }
  }
  const before = await server.usage()
  const begun = performance.now()
  const meanwhile = lookUp()
  const lists = await Promise.all(Array.from({ length: readers }, () => read(port, token)))
  const took = performance.now() - begun
  reading.abort()
  await meanwhile
  const after = await server.usage()
  for (const { text } of lists) if (JSON.parse(text).length !== count) wrong += 1
  const bytes = lists.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  return {
    wrong,
    'first byte ms': Math.max(...lists.map(({ firstByte }) => firstByte)),
    'MB/s': bytes / 1000 / took,
    'CPU ms a list': (after.cpu - before.cpu) / 1000 / readers,
    'peak MiB': after.peak / 1024 / 1024,
    'worst GET ms': worstLookUp,
  }
}

async function read(port: number, token: string): Promise<{ firstByte: number; text: string }> {
  const begun = performance.now()
  const headers = { Authorization: `Bearer ${token}` }
  const sent = http.get({ port, host: '127.0.0.1', path: '/users', headers, agent: false })
  const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
  const chunks: Buffer[] = []
  let firstByte = 0
  for await (const chunk of response) {
    firstByte ||= performance.now() - begun
    chunks.push(chunk as Buffer)
  }
  return { firstByte, text: Buffer.concat(chunks).toString() }
}
