// What the line of a request shows, and whether it says that the client got the response. (When it is written:
// http/server.test.ts.)
import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathRedactor } from '../../../src/chassis/telemetry/path-redactor.ts'
import { dial } from '../support/app.ts'
import { added, startNotes } from '../support/notes.ts'
import { CLOSE, get } from '../support/requests.ts'

// SECURITY.md: The service reveals nothing.
test.each([
  ['/notes/1?text=ada@example.com', '/notes/1'],
  ['/accounts/ada@example.com/edit', '/accounts/…/edit'],
  ['/accounts/ada%40example.com', '/accounts/…'],
  ['/accounts/ada%2540example.com', '/accounts/…'],
  ['/notes%2f1', '/…'],
  ['/wp-admin.php', '/wp-admin.php'],
])('%s is shown as %s, without what a service removes', (url, path) => {
  expect(pathRedactor()(url)).toBe(path)
  expect(pathRedactor((path) => path.replaceAll(/…|notes/g, 'x'))(url)).toBe(
    path.replaceAll(/…|notes/g, 'x'),
  )
})

test('of a path of any length, the first 500 characters are shown', () => {
  const path = `/${'a'.repeat(499)}`
  for (const length of [0, 1, 1_000_000])
    expect(pathRedactor()(path + 'b'.repeat(length))).toBe(path)
})

/** A service with one note, so long. */
const startLong = (length: number) => {
  const note = added({ body: { text: 'x'.repeat(length) } })
  return startNotes({ readNote: () => ({ ...note, status: 200 }) })
}

test('a client that leaves during the last bytes is not served', async () => {
  const service = await startLong(20_000_000) // more than the kernel takes from the service
  const { socket } = dial(service.port)
  socket.write(get('/notes/1'))
  await once(socket, 'data') // the service has written all of it, in one piece
  socket.end(() => socket.destroy())
  while (service.lines.length === 0) await sleep(10)
  await service.close()
  expect(service.lines).toMatchObject([{ level: 40, status: 200, msg: 'response aborted' }])
})

test('a client that reads all and leaves is served', async () => {
  const service = await startLong(5_000_000)
  expect((await service.exchange(get('/notes/1', CLOSE))).length).toBeGreaterThan(5_000_000)
  await service.close()
  expect(service.lines).toMatchObject([{ level: 30, status: 200, msg: 'request' }])
})
