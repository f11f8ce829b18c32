// A store that fails, and a list that is read slowly or not to its end.
import { describe, expect, test } from '@jest/globals'
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreFailure, type User } from '../src/store/user-store.ts'
import { failing } from './support/failing-store.ts'
import { everyOperation } from './support/operations.ts'
import { startService, tokens } from './support/service.ts'

const user = (i: number): User => ({
  id: i.toString(16).padStart(24, '0'),
  name: 'x'.repeat(1_000),
  email: '',
})
const GET_USERS = `GET /users HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens.issue('x')}\r\n\r\n`

describe('a failing store', () => {
  test.each(everyOperation)(
    'is a 500 to %s that reveals nothing; the log has the cause and the id',
    async (_, call) => {
      const service = await startService(failing())
      const { response, error } = await call(service.users)
      expect([response.status, error]).toEqual([500, { message: 'the data store failed' }])
      await service.close()
      const [failure, answered] = service.lines
      expect(failure).toMatchObject({ level: 50, err: { cause: { message: 'the cause' } } })
      expect(answered).toMatchObject({ status: 500, id: failure!['id'] })
    },
  )

  test('logs no document that the driver hung on its error', async () => {
    const cause = Object.assign(new Error('the cause'), { op: { email: 'secret' }, code: 7 })
    const service = await startService(failing({}, cause))
    await service.users.GET('/users')
    await service.close()
    expect(JSON.stringify(service.lines)).not.toContain('secret')
    expect(service.lines[0]).toMatchObject({ err: { cause: { code: 7 } } })
  })

  test('an error that nobody foresaw is a 500, too', async () => {
    const find = async () => {
      throw new TypeError('a mistake')
    }
    const service = await startService(failing({ find }))
    const { response, error } = await service.users.GET('/users/{id}', {
      params: { path: { id: 'x' } },
    })
    expect([response.status, error]).toEqual([500, { message: 'internal error' }])
    await service.close()
    expect(service.lines[0]).toMatchObject({ err: { message: 'a mistake' } })
  })
})

describe('the list', () => {
  /** A store with `count` users, noting how many were fetched and whether the list was let go of. */
  function counted(count: number, end?: () => void) {
    const seen = { fetched: 0, released: false }
    const list = async function* () {
      try {
        for (; seen.fetched < count; seen.fetched += 1) {
          yield [user(seen.fetched)]
          yield []
        }
        end?.()
      } finally {
        seen.released = true
      }
    }
    return { seen, store: failing({ list }) }
  }

  test('arrives whole, however long', async () => {
    const service = await startService(counted(5_000).store)
    const { data } = await service.users.GET('/users')
    expect(data).toEqual(Array.from({ length: 5_000 }, (_, i) => user(i)))
    await service.close()
  })

  test.each(['application/json', 'application/x-ndjson'])(
    'as %s breaks the connection when it fails on the way',
    async (type) => {
      const { store, seen } = counted(100, () => {
        throw new StoreFailure(new Error('on the way'))
      })
      const service = await startService(store)
      const text = await service.exchange(GET_USERS.replace('\r\n', `\r\nAccept: ${type}\r\n`))
      expect(text).toContain(`Content-Type: ${type}`)
      expect(text).toMatch(/^HTTP\/1.1 200 [^]*Transfer-Encoding: chunked/)
      expect(text).not.toMatch(/\r\n0\r\n\r\n$/)
      expect(seen.released).toBe(true)
      await service.close()
      expect(service.lines).toMatchObject([
        { level: 50, err: { cause: { message: 'on the way' } } },
        { level: 40, status: 200, msg: 'request broken off' },
      ])
    },
  )

  test.each(['application/json', 'application/x-ndjson'])(
    'as %s is fetched no faster than the client reads, and let go of when it leaves',
    async (type) => {
      const { store, seen } = counted(1_000_000)
      const service = await startService(store)
      const socket = net.connect(service.port, '127.0.0.1').pause()
      socket.write(GET_USERS.replace('\r\n', `\r\nAccept: ${type}\r\n`))
      let before = -1
      while (before !== seen.fetched || before === 0) {
        before = seen.fetched
        await sleep(200)
      }
      expect(seen.fetched).toBeLessThan(50_000)
      socket.destroy()
      await once(socket, 'close')
      while (!seen.released) await sleep(10)
      await service.close()
      expect(service.lines).toMatchObject([{ level: 40, msg: 'request broken off' }])
    },
  )

  test('as lines arrives whole, and is a 500 when it fails at once', async () => {
    const service = await startService(counted(1_000).store)
    const headers = { accept: 'application/x-ndjson' }
    const { json } = await service.send('GET /users', { headers })
    expect(json).toEqual(Array.from({ length: 1_000 }, (_, i) => user(i)))
    await service.close()
    const broken = await startService(failing())
    for (const path of ['/users', '/users?limit=1', '/users?email=x']) {
      const { status, headers: told } = await broken.send(`GET ${path}`, { headers })
      expect([status, told.link, told.vary]).toEqual([500, undefined, undefined])
    }
    await broken.close()
  })

  test('is let go of after HEAD', async () => {
    const { store, seen } = counted(1_000_000)
    const service = await startService(store)
    expect((await service.send('HEAD /users')).status).toBe(200)
    while (!seen.released) await sleep(10)
    expect(seen.fetched).toBeLessThan(1_000)
    await service.close()
  })
})
