// What a handler returns becomes the response, whatever the media type.
import { afterAll, expect, test } from '@jest/globals'
import Koa from 'koa'
import createClient from 'openapi-fetch'
import type { Reply } from '../../src/contract/handlers.ts'
import { send } from '../../src/contract/reply.ts'
import { createServer } from '../../src/http/server.ts'
import { expectDocumented } from '../support/contract.ts'
import { listen } from '../support/service.ts'

/** As openapi-typescript writes an operation that returns an image. */
interface Responses {
  200: { headers: { [name: string]: unknown }; content: { 'image/png': string } }
}
interface Paths {
  '/image': { get: { responses: Responses } }
}

const PNG = Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 255])
const documented = { content: { 'image/png': { schema: { type: 'string', format: 'binary' } } } }

const reply: Reply<Responses> = { status: 200, body: PNG }
const app = new Koa().use((ctx) => send(ctx, reply, Object.keys(documented.content)))
const handle = app.callback()
const { server, close } = createServer((request, response) => void handle(request, response))
afterAll(() => close(0))

// @ts-expect-error an image without a body
;({ status: 200 }) satisfies Reply<Responses>

// @ts-expect-error an image that is an object
;({ status: 200, body: { png: '' } }) satisfies Reply<Responses>

test('an image is sent as its bytes, and the client gets them', async () => {
  const { GET } = createClient<Paths>({ baseUrl: `http://127.0.0.1:${await listen(server)}` })
  const { data, response } = await GET('/image', { parseAs: 'arrayBuffer' })
  expect(new Uint8Array(data as unknown as ArrayBuffer)).toEqual(PNG)
  const headers = Object.fromEntries(response.headers)
  expectDocumented(documented, 'GET', { status: 200, headers, text: '' })
})
