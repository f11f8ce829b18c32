// What the line of a request shows, and whether it says that the client got the response. (When it is written:
// http/server.test.ts.)
import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathRedactor } from '../../../src/chassis/telemetry/path-redactor.ts'
import { dial } from '../support/app.ts'
import { added, startNotes } from '../support/notes.ts'
import { get } from '../support/requests.ts'

// SECURITY.md: The service reveals nothing.
test.each([
  ['/notes/1?text=ada@example.com', '/notes/1'],
  ['http://localhost/notes/1', '/notes/1'],
  ['/accounts/ada@example.com/edit', '/accounts/…/edit'],
  ['/accounts/ada%40example.com/edit', '/accounts/…/edit'],
  ['/accounts/ada/edit', '/accounts/ada/edit'],
  ['/accounts/ada', '/accounts/…'],
  ['/accounts/ada/edit/', '/accounts/…/edit/'],
  ['/a.b', '/a.b'],
  ['/a-b', '/…'],
  ['/notes%2f1', '/…'],
  ['/wp-admin.php', '/…'],
  ['*', '…'],
  ['/docs/page.css', '/docs/page.css'],
])('%s is shown as %s, without what a service removes', (url, path) => {
  const paths = ['/notes/{id}', '/accounts/{name}/edit', '/a.b']
  const redact = (text: string) => text.replaceAll(/…|notes/g, 'x')
  expect(pathRedactor(paths)(url)).toBe(path)
  expect(pathRedactor(paths, '', redact)(url)).toBe(redact(path))
})

test('of a path that a service fails to redact, nothing is shown', () => {
  const redact = (path: string) => decodeURIComponent(`${path}%`)
  expect(pathRedactor(['/{id}'], '', redact)('/1')).toBe('…')
})

test('of a path of any length, the first 500 characters are shown', () => {
  const path = `/${'a'.repeat(499)}`
  for (const length of [0, 1, 1_000_000])
    expect(pathRedactor(['/{id}'])(path + 'b'.repeat(length))).toBe(path)
})

test('a client that leaves during the last bytes is not served', async () => {
  const text = 'x'.repeat(20_000_000) // more than the kernel takes from the service
  const note = added({ body: { text } })
  const service = await startNotes({ readNote: () => ({ ...note, status: 200 }) })
  const { socket } = dial(service.port)
  socket.write(get('/notes/1'))
  await once(socket, 'data') // the service has written all of it, in one piece
  socket.end(() => socket.destroy())
  while (service.lines.length === 0) await sleep(10)
  await service.close()
  expect(service.lines).toMatchObject([
    { level: 'warn', status: 200, aborted: 'left', msg: 'response aborted' },
  ])
})

test('the line of a list has the names of its parameters, never a value; where a query is ignored, it has none', async () => {
  const service = await startNotes()
  const queries = ['GET /notes?text=Ada&limit=2', 'GET /notes', 'GET /notes/1?text=Ada']
  for (const line of queries) await service.send(line)
  await service.close()
  expect(service.lines.map(({ query }) => query)).toEqual(['text,limit', undefined, undefined])
  expect(JSON.stringify(service.lines)).not.toContain('Ada')
})

test('a line has the size of the body: as it was sent, or as far as it was', async () => {
  async function* pages() {
    for (const text of ['a', 'ü']) yield [{ text, tag: '' }]
  }
  const service = await startNotes({ listNotes: () => ({ status: 200, body: pages() }) })
  const requests = ['/notes', '/notes/1', '/nothing'].flatMap((path) => [
    `GET ${path}`,
    `HEAD ${path}`,
  ])
  const sizes: number[] = []
  for (const line of [...requests, 'DELETE /notes/1', 'PUT /notes/1'])
    sizes.push(Buffer.byteLength((await service.send(line)).text))
  await service.close()
  expect(service.lines.map(({ bytes }) => bytes)).toEqual(sizes)
  expect(sizes.slice(0, 2)).toEqual([46, 0])
})
