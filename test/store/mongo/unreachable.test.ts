// A MongoDB that goes away while the service runs: reached through a proxy that can be cut or stalled.
import { afterAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createReadiness } from '../../../src/operator/readiness.ts'
import { openMongoStore } from '../../../src/store/mongo/store.ts'
import { StoreFailure } from '../../../src/store/user-store.ts'
import { everyOperation } from '../../support/operations.ts'
import { killPrograms, serve } from '../../support/program.ts'
import { send, startService } from '../../support/service.ts'
import { describeMongodb, mongodbPlace, type Place } from '../../support/stores.ts'

/** Far less than the 30 s of the driver. Not a measurement: a test that takes longer hangs. */
const SECONDS = 15_000

describeMongodb('a MongoDB that goes away', () => {
  /** What a service says before, while and after its database is cut off or stalled. */
  async function seen(place: Place, state: 'cut' | 'stalled') {
    const [, login = '', host] = /\/\/([^@/]*@)?([^,/?]+)/.exec(place.mongodbUri!)!
    const proxy = await startProxy(host!)
    const uri = place.mongodbUri!.replace(/\/\/[^/?]+/, `//${login}127.0.0.1:${proxy.port}`)
    const store = await openMongoStore(
      `${uri.replace(/&?directConnection=true/, '')}&directConnection=true`,
    )
    const service = await startService(store)
    const { users } = service
    const readiness = createReadiness()
    await readiness.started(store)
    const before = [(await users.GET('/users')).response.status, readiness.reason()]

    proxy.be(state)
    const calls = everyOperation.map(async ([operation, call]) => {
      const { response, error } = await call(users)
      return [operation, [response.status, error]]
    })
    const opening = openMongoStore(`mongodb://127.0.0.1:${proxy.port}/x`)
    await expect(opening).rejects.toThrow(StoreFailure)
    const answers = Object.fromEntries(await Promise.all(calls))
    const during = readiness.reason()

    proxy.be('open')
    while ((await users.GET('/users')).error);
    readiness.stopping()
    await service.close()
    await store.close()
    await proxy.close()
    return { before, answers, during, after: readiness.reason() }
  }

  test(
    'fails every operation and every start within seconds, stays ready, and serves again afterwards',
    async () => {
      const place = mongodbPlace()
      const [cut, stalled] = await Promise.all([seen(place, 'cut'), seen(place, 'stalled')])
      await place.remove()
      const failed = [500, { message: 'the data store failed' }]
      const expected = {
        before: [200, undefined],
        answers: Object.fromEntries(everyOperation.map(([operation]) => [operation, failed])),
        during: undefined,
        after: 'stopping',
      }
      expect({ cut, stalled }).toEqual({ cut: expected, stalled: expected })
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
