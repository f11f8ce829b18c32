// The path of a request through a service: its guard, what no cache keeps, and its base path.
import { describe, expect, test } from '@jest/globals'
import { HttpError, type Client, type Guard } from '../../src/chassis/index.ts'
import { until } from './support/clients.ts'
import { startNotes, useNotes } from './support/notes.ts'
import { CLOSE, get } from './support/requests.ts'

const REFUSED = new HttpError(401, 'unauthorized', 'no key')

/** Refuses what has no key. Sets only what a header says. */
const guard: Guard<string> = (ctx, next) => {
  ctx.req.identify(ctx.get('X-Key') || 'nobody')
  if (ctx.get('X-Cache')) ctx.set('Cache-Control', ctx.get('X-Cache'))
  if (ctx.get('X-Key')) return next()
  if (ctx.get('X-Why')) ctx.req.log.refused = ctx.get('X-Why')
  throw REFUSED
}

const removeNote = () => Promise.reject(new Error('a mistake'))
const service = useNotes({ removeNote }, { guard })

test.each([
  ['GET /notes/1', 200],
  ['GET /nothing', 404],
  ['DELETE /notes/1', 500],
])('no cache keeps a response, unless the guard says so: %s is %i', async (line, status) => {
  const ask = async (headers: Record<string, string>) => {
    const response = await service().send(line, { headers })
    return [response.status, response.headers['cache-control']]
  }
  expect(await ask({})).toEqual([401, 'no-store'])
  expect(await ask({ 'x-key': 'x' })).toEqual([status, 'no-store'])
  expect(await ask({ 'x-cache': 'private' })).toEqual([401, 'private'])
  expect(await ask({ 'x-cache': 'private', 'x-key': 'x' })).toEqual([status, 'private'])
})

test('why the guard refuses is in the log, and counted by its reason', async () => {
  service().lines.length = 0
  for (const headers of [{ 'x-why': 'missing' }, { 'x-why': 'wrong' }, { 'x-why': 'wrong' }, {}])
    expect((await service().send('GET /notes', { headers })).status).toBe(401)
  await until(() => service().lines.length === 4)
  const refused = service().lines.map((line) => line['refused'])
  expect(refused).toEqual(['missing', 'wrong', 'wrong', undefined])
  const { text } = await service().metrics.expose()
  const counted = text.match(/^tokens_refused_total.*$/gm)
  expect(counted?.join()).toMatch(/="missing"} 1,.*="wrong"} 2$/)
})

test.each([[undefined], [null], [0], [''], [false]])(
  'an operation that the contract protects is not served unless the guard has said who calls: %j is somebody, but for undefined and null',
  async (caller) => {
    const served: unknown[] = []
    const handle = (_: object, client: Client<string>) => {
      served.push(client.caller)
      return { status: 304 }
    }
    const handlers = { readNote: handle, addNote: handle }
    const guard: Guard<string> = (ctx, next) => {
      if (caller !== undefined) ctx.req.identify(caller as string)
      return next()
    }
    const { send, lines, close } = await startNotes(handlers, { guard })
    const { status } = await send('GET /notes/1')
    await send('POST /notes', { json: { text: 'x' } }) // is public
    await close()
    if ((caller ?? undefined) !== undefined)
      return expect([status, ...served]).toEqual([304, caller, caller])
    expect([status, served]).toEqual([500, []])
    const cause = expect.stringMatching(/^the contract protects this operation/)
    const unknown = { operation: 'addNote', cause: 'the guard has not said who calls' }
    expect(lines).toMatchObject([{}, { operation: 'readNote', cause }, {}, unknown])
  },
)

describe('with BASE_PATH=/api', () => {
  const seen: string[] = []
  const noting: Guard<string> = (ctx, next) => {
    ctx.req.identify('somebody')
    seen.push(ctx.path)
    return next()
  }
  const below = useNotes({}, { basePath: '/api', docs: true, guard: noting })

  test.each([
    ['/api/notes', '/notes', 200],
    ['/api/notes?text=/api', '/notes', 200],
    ['http://x/api/notes', '/notes', 200],
    ['/api/api/notes', '/api/notes', 404],
    ['/notes', '/notes', 404],
    ['/apinotes', '/apinotes', 404],
    ['/API/notes', '/API/notes', 404],
  ])('the guard sees %s as %s, and it is %i', async (target, path, status) => {
    seen.length = 0
    expect(await below().exchange(get(target, CLOSE))).toMatch(`HTTP/1.1 ${status} `)
    expect(seen).toEqual([path])
  })

  test.each([
    ['/api', 'path not found; see /api/docs'],
    ['/', 'path not found; the paths of this service begin with /api'],
  ])('the 404 of %s says where the service is: %s', async (path, message) => {
    const response = await fetch(`http://127.0.0.1:${below().port}${path}`)
    expect(await response.json()).toEqual({ message, code: 'path_not_found' })
  })
})
