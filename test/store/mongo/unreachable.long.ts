// A MongoDB that cannot be reached for a while: it is behind a proxy that can be cut or stalled.
import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { openMongoStore } from '../../../src/store/mongo/store.ts'
import type { StoreFailure } from '../../../src/chassis/index.ts'
import { EmailTaken } from '../../../src/store/user-store.ts'
import { startProxy } from '../../support/mongodb-proxy.ts'
import { serve, useUndo } from '../../support/program.ts'
import { startService } from '../../support/service.ts'
import { describeMongodb, mongodbPlace, usersIn } from '../../support/stores.ts'
import { newUser } from '../../support/users.ts'

const undo = useUndo()

/** A new database, and a proxy to it. */
async function behindProxy() {
  const place = mongodbPlace()
  undo.push(() => place.remove())
  const proxy = await startProxy(place.MONGODB_URI!)
  undo.push(() => proxy.close())
  return { place, proxy }
}

/** What `step` resolves to. @throws Error it hangs. Each step has this time for itself, however busy the machine is. */
const inTime = <T>(step: Promise<T>): Promise<T> => {
  const hangs = async () => {
    await sleep(25_000, undefined, { ref: false }) // less than the 30 s that the driver would wait
    throw new Error('it hangs')
  }
  return Promise.race([step, hangs()])
}

async function open(uri: string, isProgram = false) {
  const store = openMongoStore(uri, { isProgram })
  undo.push(() => store.close().catch(() => {}))
  await store.oldest() // connects
  return store
}

describeMongodb('a MongoDB that goes away', () => {
  // SECURITY.md: The service recovers by itself
  // SECURITY.md: A store that does not respond
  test('fails hundreds of calls and every opening within seconds, for the reason of the outage, and is found again', async () => {
    const { proxy } = await behindProxy()
    const store = await open(proxy.uri)
    const { id, email } = await store.create(newUser())
    let slowest = 0
    const timed = async (one: Promise<unknown>) => {
      const start = performance.now()
      await one.finally(() => (slowest = Math.max(slowest, performance.now() - start)))
    }
    for (let round = 0; round < 20; round += 1) {
      proxy.be(round % 2 ? 'stalled' : 'cut')
      const calls: Promise<unknown>[] = [inTime(open(proxy.uri))]
      const call = (...started: Promise<unknown>[]) => calls.push(...started.map(timed))
      for (let ms = round < 2 ? 6_000 : Math.random() * 4_000; ms > 0; ms -= 50) {
        call(store.find(id), store.findByEmail(email), store.create(newUser()))
        call(
          store.rename(id, { name: 'x' }),
          store.rename(id, { name: 'x' }, () => true),
        )
        call(store.list({ limit: 1 }), usersIn(store))
        await sleep(50) // the client is replaced every two seconds
      }
      proxy.be('open') // while calls wait
      const rename = () => store.rename(id, { name: 'x' }).catch(() => 'failed')
      const findAgain = async () => {
        while ((await rename()) !== 'done') await sleep(100, undefined, { ref: false })
      }
      await inTime(findAgain())
      const results = (await Promise.allSettled(calls)) as Partial<PromiseRejectedResult>[]
      const kinds = results.flatMap(({ reason }) => (reason ? (reason as StoreFailure).kind : []))
      for (const kind of kinds)
        expect(kind).toMatch(/^(ECONN|MongoNetwork|TimeoutError|MongoServerSel)/)
      if (round < 2) expect([kinds.length > 100, results[0]?.status]).toEqual([true, 'rejected'])
      await sleep(Math.random() * 700)
    }
    expect(slowest).toBeLessThan(8_000) // a hang on any machine
  }, 600_000)

  test('and comes back empty gets its index again, also when no request failed meanwhile', async () => {
    const { place, proxy } = await behindProxy()
    const store = await open(proxy.uri)
    proxy.be('cut')
    await place.remove()
    proxy.be('open')
    const fields = newUser()
    await store.create(fields)
    await expect(store.create(fields)).rejects.toThrow(EmailTaken)
  })

  // SECURITY.md: Writes (MongoDB)
  test.each([
    ['eight at a time', false, 8],
    ['one at a time from an import, so that the first user with an email is stored', true, 1],
  ])('and confirms no insert of up to a hundred users gets %s', async (_, isProgram, count) => {
    const { proxy } = await behindProxy()
    const store = await open(proxy.uri, isProgram)
    proxy.holdAnswersTo('insert')
    const inserts = Array.from({ length: 1_000 }, () => store.create(newUser()))
    const results = await inTime(Promise.allSettled(inserts))
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(proxy.commands().filter(({ name }) => name === 'insert')).toHaveLength(count)
  })

  test('and confirms no write does not let a PUT succeed that is sent again', async () => {
    const { proxy } = await behindProxy()
    const store = await open(proxy.uri)
    const service = await startService(store)
    undo.push(() => service.close())
    const { id } = await store.create(newUser())
    const { etag } = (await service.send(`GET /users/${id}`)).headers
    const json = { name: 'Grace' }
    const rename = async () => {
      const headers = { 'if-match': etag }
      return (await service.send(`PUT /users/${id}`, { headers, json })).status
    }
    proxy.holdAnswersTo('update')
    expect(await rename()).toBe(500)
    expect((await service.send(`GET /users/${id}`)).json).toMatchObject(json)
    expect(await rename()).toBe(500)
    proxy.holdAnswersTo()
    expect(await rename()).toBe(204)
  })
})

describeMongodb('a service whose MongoDB is unreachable at the start', () => {
  test('ends with a message when its address can never work', async () => {
    const service = serve(mongodbPlace(), { MONGODB_URI: 'mongodb://localhost:99999' })
    expect(await service.ended).toBe(1)
    expect(service.output.stderr).toMatch(/^cannot use MONGODB_URI: .*99999/)
  })

  test('says at /readyz and in the log what is wrong, at /metrics which database, and never its password', async () => {
    const MONGODB_URI = 'mongodb://ada:wrong-password@127.0.0.1:1,127.0.0.1:2/x'
    const service = serve(mongodbPlace(), { MONGODB_URI })
    await service.listening()
    const state = /^starting, but the store cannot be used: ECONNREFUSED/
    while (!state.test((await service.probe('/readyz')).text)) await sleep(20)
    const { text: metrics } = await service.probe('/metrics')
    const { stdout } = service.output
    expect(stdout).toContain('"cannot use MongoDB at 127.0.0.1:1,127.0.0.1:2/x: ')
    expect(metrics).toContain('store_info{database="MongoDB at 127.0.0.1:1,127.0.0.1:2/x"} 1\n')
    expect(stdout + metrics).not.toContain('wrong-password')
  })
})
