// Documents that are written otherwise than openapi.yaml: references, and parameters of a path, are followed.
import { expect, test } from '@jest/globals'
import { operationsOf, type OpenApi } from '../../src/contract/contract.ts'

const header = (name: string) => ({ name, in: 'header', schema: { type: 'string' } })
const schema = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } }
const content = { 'text/plain': { schema: { type: 'string' } } }
const ref = (path: string) => ({ $ref: `#/components/${path}` })
const limit = { name: 'limit', in: 'query', schema: ref('schemas/Size') }

const item = {
  description: 'Notes.',
  parameters: [ref('parameters/X-Item')],
  post: {
    operationId: 'addNote',
    parameters: [header('X-Own'), limit],
    requestBody: ref('requestBodies/Note'),
    responses: { 201: ref('responses/AlsoText') },
  },
}

const document = {
  info: { version: '1.0.0' },
  paths: { '/notes': item },
  components: {
    parameters: { 'X-Item': header('X-Item') },
    requestBodies: { Note: { content: { 'application/json': { schema: ref('schemas/Note') } } } },
    responses: { Text: { description: '', content }, AlsoText: ref('responses/Text') },
    schemas: { Note: schema, Size: { type: 'integer', maximum: 10 } },
  },
} as unknown as OpenApi

test('references at a parameter, its schema, a body and a response are followed', () => {
  const [operation, ...others] = operationsOf(document)
  expect(others).toEqual([])
  expect(operation).toEqual({
    id: 'addNote',
    method: 'post',
    path: '/notes',
    bodySchema: schema,
    parameters: [
      header('X-Item'),
      header('X-Own'),
      { ...limit, schema: { type: 'integer', maximum: 10 } },
    ],
    responseTypes: { 201: ['text/plain'] },
  })
})

test('a reference that leads nowhere fails', () => {
  const paths = { '/x': { get: { operationId: 'x', responses: { 200: ref('responses/None') } } } }
  expect(() => operationsOf({ ...document, paths })).toThrow(TypeError)
})
