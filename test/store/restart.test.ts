// A rolling restart: two copies of the service behind a proxy that asks whether they are ready.
import { afterEach, expect, test } from '@jest/globals'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createUsersClient } from '../../src/client/client.ts'
import { killPrograms, serve, type Program } from '../support/program.ts'
import { checkedFetch, tokens } from '../support/service.ts'
import { describeStores, SECRET, type Place } from '../support/stores.ts'

describeStores((kind) => {
  let place: Place
  let proxy: http.Server | undefined
  afterEach(async () => {
    proxy?.close()
    proxy?.closeAllConnections()
    await killPrograms()
    await place.remove()
  })

  test('a rolling restart under load fails no request and loses no user', async () => {
    place = kind()
    const start = async () => {
      const copy = serve(place, { SIGNING_SECRET: SECRET, STOP_DELAY: '200ms' })
      await copy.listening()
      return copy
    }
    const copies = await Promise.all([start(), start()])
    proxy = await startProxy(copies)
    const { port } = proxy.address() as AddressInfo
    const baseUrl = `http://127.0.0.1:${port}`
    const users = createUsersClient({ baseUrl, token: tokens.issue('x'), fetch: checkedFetch })

    const created: string[] = []
    const failed: unknown[] = []
    const over = new AbortController()
    const client = async () => {
      while (!over.signal.aborted) {
        const { data, error } = await users.POST('/users', { body: { name: 'x', email: '' } })
        if (data) created.push(data.id)
        else failed.push(error)
        const params = { path: { id: created[0]! } }
        failed.push(...[(await users.GET('/users/{id}', { params })).error].filter(Boolean))
        await sleep(5) // leaves the copies some time
      }
    }
    const load = Array.from({ length: 4 }, client)
    for (const i of [0, 1]) {
      await sleep(100)
      copies[i]!.process.kill('SIGTERM')
      expect(await copies[i]!.ended).toBe(0)
      copies[i] = await start()
    }
    await sleep(100)
    over.abort()
    await Promise.all(load)

    expect(failed).toEqual([])
    expect(created.length).toBeGreaterThan(10)
    const ids = (await users.GET('/users')).data!.map(({ id }) => id)
    expect(ids.sort()).toEqual(created.sort())
  })
})

/** A proxy to the `copies` that are ready; it asks every 50 ms, and keeps its connections alive. */
async function startProxy(copies: Program[]): Promise<http.Server> {
  const agent = new http.Agent({ keepAlive: true })
  let ready = [...copies]
  let turn = 0
  const look = async () => {
    const asked = copies.map((copy) => fetch(`${copy.ops()}/readyz`).catch(() => undefined))
    const answers = await Promise.all(asked)
    ready = copies.filter((_, i) => answers[i]?.ok)
  }
  const looking = setInterval(() => void look(), 50)
  const proxy = http.createServer((request, response) => {
    const { hostname, port } = new URL(ready[(turn += 1) % ready.length]!.url())
    const { method, url, headers } = request
    const outgoing = http.request({ agent, hostname, port, method, path: url, headers })
    outgoing.on('response', (incoming) => {
      const { connection: _, 'keep-alive': __, ...passed } = incoming.headers
      response.writeHead(incoming.statusCode!, passed)
      incoming.pipe(response)
    })
    outgoing.on('error', () => response.destroy())
    request.pipe(outgoing)
  })
  proxy.on('close', () => clearInterval(looking))
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return proxy
}
