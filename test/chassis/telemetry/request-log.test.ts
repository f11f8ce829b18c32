// What the line of a request shows, and whether it says that the client got the response. (When it is written:
// test/http/server.test.ts.)
import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { newUserId } from '../../../src/store/user-id.ts'
import { pathRedactor } from '../../../src/chassis/redact-path.ts'
import { redactPath as redactIds } from '../../../src/redact-path.ts'
import { failing } from '../../support/failing-store.ts'
import { CLOSE, get } from '../support/requests.ts'
import { dial } from '../support/app.ts'
import { startService } from '../../support/service.ts'
import { user } from '../../support/users.ts'

const id = newUserId()
const redactPath = pathRedactor(redactIds)

// SECURITY.md: The service reveals nothing.
test.each([
  [`/users/${id}?email=ada@example.com`, `/users/${id}`],
  ['/users/ada@example.com', '/users/…'],
  ['/api/users/ada', '/api/users/…'],
  [`/users/users/${id}`, `/users/users/${id}`],
  [`/users/ada/${id}`, '/users/…'],
  ['/USERS/ada', '/USERS/…'],
  ['/users%2fada', '/…'],
  ['/accounts/ada@example.com/edit', '/accounts/…/edit'],
  ['/accounts/ada%40example.com', '/accounts/…'],
  ['/accounts/ada%2540example.com', '/accounts/…'],
  ['/wp-login.php', '/wp-login.php'],
])('%s is shown as %s: of users, only ids', (url, path) => {
  expect(redactPath(url)).toBe(path)
})

test('of a path of any length, the first 500 characters are shown', () => {
  const path = `/${'a'.repeat(499)}`
  for (const length of [0, 1, 1_000_000]) expect(redactPath(path + 'b'.repeat(length))).toBe(path)
})

const leaves = {
  closes: (socket: Socket) => socket.destroy(),
  resets: (socket: Socket) => socket.resetAndDestroy(),
  'closes its half, and then all': (socket: Socket) => {
    socket.end(() => socket.destroy())
  },
}

test.each(Object.entries(leaves))(
  'a client that leaves during the last bytes is not logged as served: it %s',
  async (_, leave) => {
    const large = user({ name: 'x'.repeat(20_000_000) }) // more than the kernel takes from the service
    const service = await startService(failing({ find: async () => large }))
    const { socket } = dial(service.port)
    socket.write(get(`/users/${large.id}`))
    await once(socket, 'data') // the service has written all of it, in one piece
    leave(socket)
    while (service.lines.length === 0) await sleep(10)
    await service.close()
    expect(service.lines).toMatchObject([{ level: 40, status: 200, msg: 'response aborted' }])
  },
)

test.each(['1.0', '1.1'])(
  'a client that reads all and leaves is logged as served: HTTP/%s',
  async (version) => {
    const large = user({ name: 'x'.repeat(5_000_000) })
    const service = await startService(failing({ find: async () => large }))
    const request = get(`/users/${large.id}`, CLOSE).replace('HTTP/1.1', `HTTP/${version}`)
    expect((await service.exchange(request)).length).toBeGreaterThan(5_000_000)
    await service.close()
    expect(service.lines).toMatchObject([{ level: 30, status: 200, msg: 'request' }])
  },
)
