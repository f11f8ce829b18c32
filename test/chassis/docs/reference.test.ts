// The contract over HTTP: the document in both forms, and the files of the page.
import { expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { load } from 'js-yaml'
import Koa from 'koa'
import { loadContract } from '../../../src/chassis/contract/contract.ts'
import { serveReference } from '../../../src/chassis/docs/reference.ts'
import { newFolder, read } from '../../support/readme.ts'
import { parseResponses, startApp, useStarted } from '../support/app.ts'
import { startNotes } from '../support/notes.ts'

const service = useStarted(() => startNotes({}, { docs: true }))
const url = (path: string) => `http://127.0.0.1:${service().port}${path}`

const TYPES: [string, string][] = [
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/page.css', 'text/css; charset=utf-8'],
  ['/docs/page.js', 'text/javascript; charset=utf-8'],
  ['/docs/openapi-explorer.js', 'text/javascript; charset=utf-8'],
  ['/openapi.yaml', 'application/yaml'],
  ['/openapi.json', 'application/json; charset=utf-8'],
]
const PATHS = TYPES.map(([path]) => path)

const FILE = read('test/chassis/support/notes.yaml')

test('/openapi.yaml is the file, and /openapi.json the same document', async () => {
  expect(await (await fetch(url('/openapi.yaml'))).text()).toBe(FILE)
  expect(await (await fetch(url('/openapi.json'))).json()).toEqual(load(FILE))
})

test.each(TYPES)('%s is %s, with a policy for its own scripts only', async (path, type) => {
  const { status, headers } = await fetch(url(path))
  expect([status, headers.get('content-type')]).toEqual([200, type])
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; " +
      "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  )
})

test.each(PATHS)('%s returns 304 when If-None-Match matches', async (path) => {
  const etag = (await fetch(url(path))).headers.get('etag')!
  const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nIf-None-Match: ${etag}`
  const again = parseResponses(await service().exchange(`${head}\r\n\r\n`))
  expect(again).toMatchObject([{ status: 304, text: '' }])
})

test.each(PATHS)('%s accepts HEAD and GET, and no other method', async (path) => {
  const head = await fetch(url(path), { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
  const post = await fetch(url(path), { method: 'POST' })
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'HEAD, GET'])
  const message = 'the method POST is not allowed on this path'
  expect(await post.json()).toEqual({ message, code: 'method_not_allowed' })
})

const OTHERS = ['/docs/', '/docs/..%2fpackage.json', '/DOCS']
test.each(OTHERS)('%s is 404', async (path) => {
  expect((await service().send(`GET ${path}`)).status).toBe(404)
})

test('all paths are 404, and name no other, when DOCS is false', async () => {
  const without = await startNotes()
  const json = { message: 'path not found', code: 'path_not_found' }
  for (const path of ['/', ...PATHS])
    expect(await without.send(`GET ${path}`)).toMatchObject({ status: 404, json })
  await without.close()
})

const SERVERS = 'servers: [{ url: / }]\n'
test.each([
  [SERVERS, 'servers: [{ url: /api }]\n'],
  ['servers:\n  - url: / # here\n', 'servers:\n  - url: /api # here\n'],
  [
    'servers:\n  - description: url of x\n    url: https://x/y\n  - url: /z\n',
    'servers:\n  - description: url of x\n    url: /api\n  - url: /z\n',
  ],
  ['', undefined],
])(
  'with a base path, the first server of %j is that, and all else stays',
  async (servers, expected) => {
    const file = join(newFolder(), 'openapi.yaml')
    writeFileSync(file, FILE.replace(SERVERS, servers))
    const app = new Koa().use(serveReference(loadContract(pathToFileURL(file)), '/api'))
    const { port, close } = await startApp(app, { expectContract: () => undefined })
    const text = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
    const yaml = await text('/openapi.yaml')
    const whole = expected
      ? FILE.replace(SERVERS, expected)
      : `${FILE.replace(SERVERS, '')}${SERVERS}`
    expect(yaml.replace('url: /api }]', 'url: / }]')).toBe(
      whole.replace('url: /api }]', 'url: / }]'),
    )
    const { servers: served, ...rest } = JSON.parse(await text('/openapi.json'))
    expect(served[0].url).toBe('/api')
    const { servers: _, ...document } = load(FILE) as { servers: unknown }
    expect(rest).toEqual(document)
    await close()
  },
)
