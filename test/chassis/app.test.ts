// The path of a request through a service: its guard, its base path, and what no cache keeps.
import { describe, expect, test } from '@jest/globals'
import { HttpError, logOf, type Parts } from '../../src/chassis/index.ts'
import { startNotes, useNotes } from './support/notes.ts'

const REFUSED = new HttpError(401, 'unauthorized', 'no key')

/** Lets all pass that have a key; sets nothing. */
const guard: Parts<unknown>['guard'] = (ctx, next) => {
  if (ctx.get('X-Key')) return next()
  throw REFUSED
}

const service = useNotes(
  {
    readNote: () => ({ status: 200, headers: { 'X-Kind': 'note' }, body: { text: '', tag: '' } }),
    removeNote: () => {
      throw new Error('a mistake')
    },
  },
  { guard },
)

test.each([
  ['GET /notes/1', 200],
  ['POST /notes', 201],
  ['GET /nothing', 404],
  ['PUT /notes', 405],
  ['POST /notes', 413, 'x'.repeat(200_000)],
  ['DELETE /notes/1', 500],
])('no cache keeps a response if the guard says nothing of it: %s is %i', async (...row) => {
  const [line, status, text = 'x'] = row
  const request = line.startsWith('POST') ? { json: { text } } : {}
  const found = async (headers: Record<string, string>) => {
    const { status, headers: sent } = await service().send(line, { ...request, headers })
    return [status, sent['cache-control']]
  }
  expect(await found({ 'x-key': 'x' })).toEqual([status, 'no-store'])
  expect(await found({})).toEqual([401, 'no-store'])
})

test('a guard may set Cache-Control, also of what it and others refuse', async () => {
  const { send, close } = await startNotes(
    {},
    { guard: (ctx, next) => (ctx.set('Cache-Control', 'private'), guard(ctx, next)) },
  )
  for (const headers of [{}, { 'x-key': 'x' }]) {
    const response = await send('GET /nothing', { headers })
    expect(response.headers['cache-control']).toBe('private')
  }
  await close()
})

test('why a guard refuses is in the log, and counted by its reason', async () => {
  const { send, close, lines, metrics } = await startNotes(
    {},
    {
      guard(ctx, next) {
        logOf(ctx)['refused'] = ctx.get('X-Why') || undefined
        return guard(ctx, next)
      },
    },
  )
  for (const why of ['missing', 'wrong', 'wrong', ''])
    expect((await send('GET /notes', { headers: { 'x-why': why } })).status).toBe(401)
  expect((await send('GET /notes', { headers: { 'x-key': 'x' } })).status).toBe(200)
  await close()
  expect(lines.map(({ refused }) => refused)).toEqual([
    'missing',
    'wrong',
    'wrong',
    undefined,
    undefined,
  ])
  const { text } = await metrics.expose()
  expect(text.match(/^tokens_refused_total.*$/gm)).toEqual([
    'tokens_refused_total{reason="missing"} 1',
    'tokens_refused_total{reason="wrong"} 2',
  ])
})

describe('with BASE_PATH=/api', () => {
  const seen: string[] = []
  const below = useNotes(
    {},
    {
      basePath: '/api',
      docs: true,
      guard(ctx, next) {
        seen.push(ctx.path)
        return next()
      },
    },
  )

  test.each([
    ['/api/notes', '/notes', 200],
    ['/api/notes?text=/api', '/notes', 200],
    ['http://x/api/notes', '/notes', 200],
    ['/api/docs', '/docs', 200],
    ['/api/api/notes', '/api/notes', 404],
    ['/notes', '/notes', 404],
    ['/docs', '/docs', 404],
    ['/apinotes', '/apinotes', 404],
    ['/API/notes', '/API/notes', 404],
    ['//api/notes', '//api/notes', 404],
    ['/%61pi/notes', '/%61pi/notes', 404],
    ['/?/api/notes', '/', 404],
    ['*', '*', 404],
  ])('the guard sees %s as %s, and it is %i', async (target, path, status) => {
    seen.length = 0
    const request = `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
    expect(await below().exchange(request)).toMatch(`HTTP/1.1 ${status} `)
    expect(seen).toEqual([path])
  })

  const OUTSIDE = 'path not found; the paths of this service begin with /api'
  test.each([
    ['/api', 'path not found; see /api/docs'],
    ['/api/', 'path not found; see /api/docs'],
    ...['/', '/notes', '/docs'].map((path) => [path, OUTSIDE]),
  ])('the 404 of %s says where the service is: %s', async (path, message) => {
    const response = await fetch(`http://127.0.0.1:${below().port}${path}`)
    expect(await response.json()).toEqual({ message, code: 'path_not_found' })
  })
})
