// Which path and method lead to which operation.
import { expect, test } from '@jest/globals'
import http from 'node:http'
import { operationsOf } from '../../../src/chassis/contract/resolve.ts'
import { createRouter } from '../../../src/chassis/contract/router.ts'
import { notesContract, startNotes, useNotes } from '../support/notes.ts'
import { CLOSE, get } from '../support/requests.ts'

const headers = { Link: '</notes?after=1>; rel="next"' }
const service = useNotes({ listNotes: () => ({ status: 200, headers, body: [] }) })

const NOT_SPELLED =
  '/ * /NOTES /notes/ //notes /%6eotes /notes%2F1 /notes/1/text /x/../notes /notes;x'
const ELSEWHERE = '/api/notes /?/notes /notes/?/notes http://example.com?/notes'
test.each(`${NOT_SPELLED} ${ELSEWHERE}`.split(' '))('no operation is at %s', async (path) => {
  expect((await service().send(`OPTIONS ${path}`)).status).toBe(404)
})

test.each([
  ['GET http://example.com/notes', 200],
  ['GET HTTP://example.com/notes?x', 400],
  ['GET /notes/1?x=/', 200],
  ['GET /notes/%31', 404],
])('the path is taken as it was sent: %s is %i', async (line, status) => {
  expect((await service().send(line)).status).toBe(status)
})

test.each([
  ['/a/new', '/a/new'],
  ['/a/1', '/a/{x}'],
  ['/1/new', '/{y}/new'],
  ['/1/2', '/{x}/{y}'],
])('%s is %s, whatever the order of the paths', async (path, expected) => {
  const paths = ['/{x}/{y}', '/{y}/new', '/a/{x}', '/a/new']
  for (const order of [paths, paths.toReversed()]) {
    const item = (id: string) => [id, { get: { operationId: id, responses: {} } }] as const
    const operations = operationsOf({ paths: Object.fromEntries(order.map(item)) })
    const contract = { contents: () => ({ operations }) } as unknown as typeof notesContract
    const handlers = Object.fromEntries(paths.map((id) => [id, () => ({ status: 204 })]))
    const { pathAndMethod } = createRouter(contract, handlers as never).match(path, 'GET')
    expect(pathAndMethod[0]!.path).toBe(expected.replaceAll(/\{(\w+)\}/g, ':$1'))
  }
})

test('the methods of a path are those of the first that matches, and not of others', async () => {
  const readNew = { operationId: 'readNew', responses: { 204: {} } }
  const more = operationsOf({ paths: { '/notes/new': { get: readNew } } })
  const notes = notesContract.contents()
  const contents = () => ({ ...notes, operations: [...more, ...notes.operations] })
  const handlers = { readNew: () => ({ status: 204 }) }
  const { exchange } = await startNotes(handlers as never, {
    contract: { ...notesContract, contents },
  })
  expect(await exchange(get('/notes/new', CLOSE))).toMatch(/^HTTP\/1.1 204 /)
  const text = await exchange(get('/notes/new', CLOSE).replace('GET', 'DELETE'))
  expect(text).toMatch(/^HTTP\/1.1 405 [^]*\r\nAllow: HEAD, GET\r\n/)
})

const METHODS = http.METHODS.filter((method) => method !== 'CONNECT')

test.each(METHODS)('%s is 405 with Allow where it is not defined, never 501', async (method) => {
  const { operations } = notesContract.contents()
  for (const path of new Set(operations.map((operation) => operation.path))) {
    const defined = operations
      .filter((operation) => operation.path === path)
      .flatMap(({ method }) => (method === 'get' ? ['HEAD', 'GET'] : [method.toUpperCase()]))
    if (defined.includes(method)) continue
    const { status, headers } = await service().send(`${method} ${path.replace('{id}', '1')}`)
    expect([status, headers.allow]).toEqual([405, defined.join(', ')])
  }
  expect((await service().send(`${method} /nothing`)).status).toBe(404)
})

test('HEAD returns the headers of GET, and no body', async () => {
  const { headers } = await service().send('GET /notes')
  for (const name of ['date', 'x-request-id']) delete headers[name]
  expect(await service().send('HEAD /notes')).toMatchObject({ status: 200, text: '', headers })
})
