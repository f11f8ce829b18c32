// What the line of a request shows, and whether it says that the client got the response. (When it is written:
// test/http/server.test.ts.)
import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathRedactor } from '../../../src/chassis/redact-path.ts'
import { CLOSE, get } from '../support/requests.ts'
import { dial } from '../support/app.ts'
import { added, startNotes } from '../support/notes.ts'

const redactPath = pathRedactor()

// SECURITY.md: The service reveals nothing.
test.each([
  ['/notes/7?tag=ada@example.com', '/notes/7'],
  ['http://localhost/notes/ada@example.com/edit', '/notes/…/edit'],
  ['/notes/ada%40example.com', '/notes/…'],
  ['/notes/ada%2540example.com', '/notes/…'],
  ['/wp-admin.php', '/wp-admin.php'],
])('%s is shown as %s: only segments of plain characters', (url, path) => {
  expect(redactPath(url)).toBe(path)
})

test('a service can show less', () => {
  expect(pathRedactor((path) => path.replace(/7/, '…'))('/notes/7?x')).toBe('/notes/…')
})

test('of a path of any length, the first 500 characters are shown', () => {
  const path = `/${'a'.repeat(499)}`
  for (const length of [0, 1, 1_000_000]) expect(redactPath(path + 'b'.repeat(length))).toBe(path)
})

const startLarge = (length: number) =>
  startNotes({
    readNote: () => ({ ...added({ body: { text: 'x'.repeat(length) } }), status: 200 }),
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
    const service = await startLarge(20_000_000) // more than the kernel takes from the service
    const { socket } = dial(service.port)
    socket.write(get('/notes/7'))
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
    const service = await startLarge(5_000_000)
    const request = get('/notes/7', CLOSE).replace('HTTP/1.1', `HTTP/${version}`)
    expect((await service.exchange(request)).length).toBeGreaterThan(5_000_000)
    await service.close()
    expect(service.lines).toMatchObject([{ level: 30, status: 200, msg: 'request' }])
  },
)
