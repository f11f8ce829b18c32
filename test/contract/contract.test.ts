// Documents that are written otherwise than openapi.yaml, and served: references, parameters of a path, media types.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import Koa from 'koa'
import { operationsOf, type OpenApi } from '../../src/contract/contract.ts'
import type { Handlers } from '../../src/contract/handlers.ts'
import { createRouter } from '../../src/contract/router.ts'
import { respondToErrors } from '../../src/errors.ts'
import { createServer } from '../../src/http/server.ts'
import { listen } from '../support/service.ts'

const header = (name: string) => ({ name, in: 'header', schema: { type: 'string' } })
const text = { 'text/plain': { schema: { type: 'string' } } }
const ok = { $ref: '#/components/responses/Text' }

const item = {
  description: 'Notes.',
  parameters: [{ $ref: '#/components/parameters/X-Item' }],
  post: {
    operationId: 'addNote',
    parameters: [header('X-Own')],
    requestBody: { $ref: '#/components/requestBodies/Note' },
    responses: { 201: ok },
  },
  get: {
    operationId: 'findNotes',
    parameters: [
      { name: 'q', in: 'query', schema: { type: 'string' } },
      { name: 'limit', in: 'query', schema: { $ref: '#/components/schemas/Size' } },
    ],
    responses: { 200: { $ref: '#/components/responses/AlsoText' } },
  },
}

const document = {
  info: { version: '1.0.0' },
  paths: { '/notes': item },
  components: {
    parameters: { 'X-Item': header('X-Item') },
    requestBodies: {
      Note: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['text'],
              properties: { text: { type: 'string' } },
            },
          },
        },
      },
    },
    responses: { Text: { description: '', content: text }, AlsoText: { $ref: ok.$ref } },
    schemas: { Size: { type: 'integer', maximum: 10 } },
  },
} as unknown as OpenApi

/** Each operation returns what its handler got, as text. */
const echo = (status: number) => (input: object) => ({ status, body: `é ${JSON.stringify(input)}` })
const handlers = { addNote: echo(201), findNotes: echo(200) } as unknown as Handlers

const app = new Koa()
respondToErrors(app)
const handle = app.use(createRouter(handlers, operationsOf(document)).routes()).callback()
const respond: Parameters<typeof createServer>[0] = (request, response) =>
  void handle(request, response)
const { server, close } = createServer(respond, { bodyLimit: 1_000 })
let url: string
beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(server)}`
})
afterAll(() => close(0))

/** @returns the status, the media type and what the handler got, or the message */
async function call(path: string, init: RequestInit = {}) {
  const response = await fetch(url + path, init)
  const sent = await response.text()
  const { message, code: _, ...input } = JSON.parse(sent.replace('é ', ''))
  return [response.status, response.headers.get('content-type'), message ?? input]
}

const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'
const post = (body: string, headers = {}) => {
  return { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } }
}

test('references at a parameter, a body and a response are followed', async () => {
  const input = { path: {}, header: { 'X-Item': 'a', 'X-Own': 'b' }, body: { text: 'x' } }
  const request = post('{"text":"x","other":1}', { 'x-item': 'a', 'x-own': 'b' })
  expect(await call('/notes', request)).toEqual([201, TEXT, input])
  const message = 'field `text` is required'
  expect(await call('/notes', post('{}'))).toEqual([400, JSON_TYPE, message])
})

test('a reference to the schema of a parameter is followed', async () => {
  const input = { path: {}, header: {}, query: { q: '', limit: 7 } }
  expect(await call('/notes?limit=7&q')).toEqual([200, TEXT, input])
  const message = 'query parameter `limit` must be <= 10'
  expect(await call('/notes?q&limit=11')).toEqual([400, JSON_TYPE, message])
})

test('a reference that leads nowhere fails', () => {
  const $ref = '#/components/responses/Nothing'
  const paths = { '/x': { get: { operationId: 'x', responses: { 200: { $ref } } } } }
  expect(() => operationsOf({ ...document, paths })).toThrow(TypeError)
})
