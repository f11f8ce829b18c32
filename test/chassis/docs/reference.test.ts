// The contract over HTTP: the document in both forms, and the files of the page.
import { expect, test } from '@jest/globals'
import { load } from 'js-yaml'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { newFolder, read } from '../../support/readme.ts'
import { parseResponses } from '../support/app.ts'
import { readNotesContract, startNotes, useNotes } from '../support/notes.ts'
import { CLOSE } from '../support/requests.ts'

const service = useNotes({}, { docs: true })
const url = (path: string) => `http://127.0.0.1:${service().port}${path}`

const TYPES: [string, string][] = [
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/page.css', 'text/css; charset=utf-8'],
  ['/docs/page.js', 'text/javascript; charset=utf-8'],
  ['/docs/openapi-explorer.js', 'text/javascript; charset=utf-8'],
  ['/openapi.yaml', 'application/yaml; charset=utf-8'],
  ['/openapi.json', 'application/json; charset=utf-8'],
]
const PATHS = TYPES.map(([path]) => path)

const FILE = read('test/chassis/support/notes.yaml')
test('/openapi.yaml is the file, and /openapi.json the same document', async () => {
  expect(await (await fetch(url('/openapi.yaml'))).text()).toBe(FILE)
  expect(await (await fetch(url('/openapi.json'))).json()).toEqual(load(FILE))
})

const flow = (url: string) => `servers: [{ url: ${url} }]\n`

test.each<[string, (url: string) => string]>([
  ['in flow style', flow],
  ['after a comment', (url) => `servers:\n  # url: x\n  - url: '${url}'\n`],
])('with BASE_PATH, the contract has this server, and no other change: %s', async (_, servers) => {
  const [text = '', changed] = ['/', '/api'].map((url) => FILE.replace(flow('/'), servers(url)))
  const file = join(newFolder(), 'openapi.yaml')
  writeFileSync(file, text)
  const contract = readNotesContract(pathToFileURL(file))
  const { port, close } = await startNotes({}, { contract, docs: true, basePath: '/api' })
  const get = async (path: string) => (await fetch(`http://127.0.0.1:${port}/api${path}`)).text()
  const served = [await get('/openapi.yaml'), JSON.parse(await get('/openapi.json'))]
  await close()
  expect(served).toEqual([changed, load(changed!)])
})

test.each(TYPES)('%s is %s, with a policy for its own scripts only', async (path, type) => {
  const { status, headers } = await fetch(url(path))
  expect(status).toBe(200)
  expect(Object.fromEntries(headers)).toMatchObject({
    'content-type': type,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-cache',
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  })
})

test.each(PATHS)('a browser keeps %s, and asks whether it has changed: 304', async (path) => {
  const etag = (await fetch(url(path))).headers.get('etag')!
  const ask = async (method: string, etag: string) => {
    const line = `${method} ${path} HTTP/1.1\r\nHost: x\r\n${CLOSE}If-None-Match: ${etag}\r\n\r\n`
    return parseResponses(await service().exchange(line))
  }
  for (const method of ['GET', 'HEAD'])
    expect(await ask(method, etag)).toMatchObject([{ status: 304, headers: { etag }, text: '' }])
  expect(await ask('GET', '"of the version before"')).toMatchObject([{ status: 200 }])
})

test.each(PATHS)('%s accepts HEAD and GET, and no other method', async (path) => {
  const head = await fetch(url(path), { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  const post = await fetch(url(path), { method: 'POST' })
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'HEAD, GET'])
  const message = 'the method POST is not allowed on this path'
  expect(await post.json()).toEqual({ message, code: 'method_not_allowed' })
})

test('all paths are 404, and name no other, when DOCS is false', async () => {
  const without = await startNotes()
  const json = { message: 'path not found', code: 'path_not_found' }
  for (const path of ['/', ...PATHS])
    expect(await without.send(`GET ${path}`)).toMatchObject({ status: 404, json })
})
