// A MongoDB that goes away while the service runs: reached through a proxy that can be cut or stalled.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createReadiness } from '../../../src/operator/readiness.ts'
import { openMongoStore } from '../../../src/store/mongo/store.ts'
import { StoreFailure, type UserStore } from '../../../src/store/user-store.ts'
import { everyOperation } from '../../support/operations.ts'
import { killPrograms, serve } from '../../support/program.ts'
import { send, startService, type Service } from '../../support/service.ts'
import { describeMongodb, mongodbPlace, type Place } from '../../support/stores.ts'

/** Far less than the 30 s of the driver. Not a measurement: a test that takes longer hangs. */
const SECONDS = 15_000

describeMongodb('a MongoDB that goes away', () => {
  let place: Place
  let proxy: Proxy
  let store: UserStore
  let service: Service

  beforeAll(async () => {
    place = mongodbPlace()
    proxy = await startProxy(/\/\/(?:[^@/]*@)?([^,/?]+)/.exec(place.mongodbUri!)![1]!)
    const uri = place.mongodbUri!.replace(/(\/\/(?:[^@/]*@)?)[^/?]+/, `$1127.0.0.1:${proxy.port}`)
    store = await openMongoStore(
      `${uri.replace(/&?directConnection=true/, '')}&directConnection=true`,
    )
    service = await startService(store)
  })
  afterAll(async () => {
    await service.close()
    await proxy.close()
    await store.close()
    await place.remove()
  })

  test.each(['cut', 'stalled'] as const)(
    'fails every operation with 500 within seconds while it is %s, and serves again afterwards',
    async (state) => {
      expect((await service.users.GET('/users')).error).toBeUndefined()
      proxy.be(state)
      const answers = everyOperation.map(async ([operation, call]) => {
        const { response, error } = await call(service.users)
        return [operation, response.status, error]
      })
      const failed = everyOperation.map(([operation]) => {
        return [operation, 500, { message: 'the data store failed' }]
      })
      expect(await Promise.all(answers)).toEqual(failed)
      proxy.be('open')
      while ((await service.users.GET('/users')).error);
    },
    SECONDS,
  )

  test(
    'makes the service not ready, until it is back',
    async () => {
      const readiness = createReadiness()
      await readiness.started(store)
      for (const state of ['cut', 'stalled'] as const) {
        expect(readiness.reason()).toBeUndefined()
        proxy.be(state)
        while (!readiness.reason()) await sleep(10)
        expect(readiness.reason()).toBe('the store cannot be reached')
        proxy.be('open')
        while (readiness.reason()) await sleep(10)
      }
      readiness.stopping()
      expect(readiness.reason()).toBe('stopping')
    },
    SECONDS,
  )

  test(
    'cannot be opened, and that is known within seconds',
    async () => {
      proxy.be('stalled')
      const opening = openMongoStore(`mongodb://127.0.0.1:${proxy.port}/x`)
      await expect(opening).rejects.toThrow(StoreFailure)
      proxy.be('open')
    },
    SECONDS,
  )
})

describeMongodb('a service whose MongoDB is away at the start', () => {
  afterAll(killPrograms)

  test('is alive and not ready, and ready when MongoDB is there', async () => {
    const place = mongodbPlace()
    const [, target] = /\/\/(?:[^@/]*@)?([^,/?]+)/.exec(place.mongodbUri!)!
    const proxy = await startProxy(target!)
    proxy.be('cut')
    const MONGODB_URI = place.mongodbUri!.replace(target!, `127.0.0.1:${proxy.port}`)
    const service = serve(place, { MONGODB_URI })
    const url = await service.listening()
    const probe = async (path: string) => (await fetch(service.ops() + path)).text()
    expect(await probe('/livez')).toBe('alive')
    expect(await probe('/readyz')).toBe('the store cannot be reached')
    const login = () => send(Number(new URL(url).port), 'POST /login', { json: { email: 'x' } })
    expect((await login()).status).toBe(500)
    proxy.be('open')
    while ((await probe('/readyz')) !== 'ready') await sleep(50)
    expect((await login()).status).toBe(401)
    await killPrograms()
    await proxy.close()
    await place.remove()
  })

  test('ends with a message when the address can never work', async () => {
    const place = mongodbPlace()
    const service = serve(place, { MONGODB_URI: 'mongodb://localhost:99999' })
    expect(await service.ended).toBe(1)
    expect(service.output.stderr).toMatch(/^cannot use MONGODB_URI: .*99999/)
  })
})

interface Proxy {
  port: number
  be(state: 'open' | 'cut' | 'stalled'): void
  close(): Promise<void>
}

async function startProxy(target: string): Promise<Proxy> {
  const [host, port = '27017'] = target.split(':')
  const pairs = new Set<[Socket, Socket]>()
  let state = 'open'
  const server: Server = net.createServer((inward) => {
    if (state === 'cut') return void inward.destroy()
    const outward = net.connect(Number(port), host)
    const pair: [Socket, Socket] = [inward, outward]
    pairs.add(pair)
    inward.pipe(outward).pipe(inward)
    for (const socket of pair) {
      socket.on('error', () => {}).on('close', () => pair.forEach((end) => end.destroy()))
    }
    if (state === 'stalled') stall(pair)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    be(next) {
      state = next
      for (const pair of pairs) {
        if (next === 'stalled') stall(pair)
        else pair[0].destroy() // a stalled connection is never used again
      }
    },
    async close() {
      server.close()
      for (const [inward] of pairs) inward.destroy()
      await once(server, 'close')
    },
  }
}

function stall([inward, outward]: [Socket, Socket]): void {
  inward.unpipe().pause()
  outward.unpipe().pause()
}
