// A MongoDB that goes away while the service runs: reached through a proxy that can be cut or stalled.
import { afterAll, expect, test } from '@jest/globals'
import dgram from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createReadiness } from '../../../src/operator/readiness.ts'
import { openMongoStore } from '../../../src/store/mongo/store.ts'
import { EmailTaken, StoreFailure } from '../../../src/store/user-store.ts'
import { everyOperation } from '../../support/operations.ts'
import { freePort, killPrograms, serve } from '../../support/program.ts'
import { send, startService } from '../../support/service.ts'
import { describeMongodb, mongodbPlace, type Place } from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

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

  test('and comes back empty gets its index again, also when no request failed meanwhile', async () => {
    const place = mongodbPlace()
    const { proxy, uri } = await behindProxy(place)
    const store = await openMongoStore(uri)
    proxy.be('cut')
    await place.remove()
    proxy.be('open')
    const user = newUser()
    await store.create(user)
    await expect(store.create(user)).rejects.toThrow(EmailTaken)
    await store.close()
    await proxy.close()
    await place.remove()
  })
})

describeMongodb('a service whose MongoDB is away at the start', () => {
  afterAll(killPrograms)

  test('is alive and not ready, and ready when MongoDB is there', async () => {
    const place = mongodbPlace()
    const { proxy, uri } = await behindProxy(place)
    proxy.be('cut')
    const service = serve(place, { MONGODB_URI: uri })
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

  test('ends with a message when MongoDB is there and refuses the credentials', async () => {
    const place = mongodbPlace()
    const { proxy, uri } = await behindProxy(place)
    proxy.be('cut')
    const MONGODB_URI = uri.replace(/\/\/([^@/]*@)?/, '//nobody:wrong-password@')
    const service = serve(place, { MONGODB_URI })
    await service.listening()
    proxy.be('open')
    expect(await service.ended).toBe(1)
    const message = /^cannot use the data store: .*authentication/i
    expect(service.output.stderr).toMatch(message)
    await proxy.close()
  })

  test('waits for DNS, too', async () => {
    const place = mongodbPlace()
    const { proxy } = await behindProxy(place)
    const before = dns.getServers()
    const dnsPort = await freePort()
    dns.setServers([`127.0.0.1:${dnsPort}`])
    const store = await openMongoStore('mongodb+srv://db.0.0.1/x?tls=false', () => {}, true)
    await expect(store.isEmpty()).rejects.toMatchObject({ isFinal: false })
    const server = startDns(dnsPort, proxy.port)
    await once(server, 'listening')
    expect(await store.isEmpty()).toBe(true)
    dns.setServers(before)
    await store.close()
    server.close()
    await proxy.close()
  })
})

/** A DNS server on which every name has one SRV record, 127.0.0.1:`port`, and nothing else. */
function startDns(dnsPort: number, port: number): dgram.Socket {
  const SRV = 33
  const server = dgram.createSocket('udp4')
  return server.bind(dnsPort, '127.0.0.1').on('message', (query, { port: from }) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5)
    const isSrv = question.readUInt16BE(question.length - 4) === SRV
    const header = [0x8180, 1, isSrv ? 1 : 0, 0, 0].flatMap((word) => [word >> 8, word & 255])
    const record = [0xc0, 12, 0, SRV, 0, 1, 0, 0, 0, 0, 0, 17, 0, 0, 0, 0, port >> 8, port & 255]
    const answer = isSrv ? [Buffer.from(record), Buffer.from('\x03127\x010\x010\x011\0')] : []
    server.send(
      Buffer.concat([query.subarray(0, 2), Buffer.from(header), question, ...answer]),
      from,
    )
  })
}

/** A proxy to the server of `place`, and the URI through it. */
async function behindProxy(place: Place) {
  const [, target = ''] = /\/\/(?:[^@/]*@)?([^,/?]+)/.exec(place.mongodbUri!)!
  const proxy = await startProxy(target)
  return { proxy, uri: place.mongodbUri!.replace(target, `127.0.0.1:${proxy.port}`) }
}

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
