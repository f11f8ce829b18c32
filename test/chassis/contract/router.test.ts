// Which path and method lead to which operation.
import { expect, test } from '@jest/globals'
import http from 'node:http'
import { notesContract, useNotes } from '../support/notes.ts'

const service = useNotes()

const METHODS = http.METHODS.filter((method) => method !== 'CONNECT')

test.each(METHODS)('%s is 405 with Allow where it is not defined, never 501', async (method) => {
  for (const path of new Set(
    notesContract.contents().operations.map((operation) => operation.path),
  )) {
    const defined = notesContract
      .contents()
      .operations.filter((operation) => operation.path === path)
      .flatMap(({ method }) => (method === 'get' ? ['HEAD', 'GET'] : [method.toUpperCase()]))
    if (defined.includes(method)) continue
    const { status, headers } = await service().send(`${method} ${path.replace('{id}', 'x')}`)
    expect([status, headers.allow]).toEqual([405, defined.join(', ')])
  }
  expect((await service().send(`${method} /nothing`)).status).toBe(404)
})

const PATHS = ['/NOTES', '/notes/', '//notes', '/%6Eotes', '/x/../notes', '/notes;x', '/notes/x/y']
test.each(PATHS)('%s is 404: paths match exactly', async (path) => {
  expect((await service().send(`GET ${path}`)).status).toBe(404)
})
