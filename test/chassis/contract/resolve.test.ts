// What the service reads of a contract: references are followed, and what it also accepts is applied.
import { expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { loadContract } from '../../../src/chassis/index.ts'
import { newFolder } from '../../support/readme.ts'
import { notesContract } from '../support/notes.ts'
import { operationsOf, resolveContract } from '../../../src/chassis/contract/resolve.ts'

const ref = (name: string) => ({ $ref: `#/components/${name}` })

test('a reference is replaced by what it points to, through others, and x-also-accepts by what it says', () => {
  const text = { type: 'string', 'x-also-accepts': { type: ['string', 'null'] } }
  const note = { properties: { text: ref('Text') } }
  const resolved = resolveContract({
    body: ref('Alias'),
    components: { Alias: ref('Note'), Note: note, Text: text },
  })
  expect(resolved.body).toEqual({ properties: { text: { ...text, type: ['string', 'null'] } } })
})

test.each([
  ['its own', [], [{ key: [] }], true],
  ['that of the document', [{ key: [] }], undefined, true],
  ['one of two', undefined, [{ key: [] }, { other: [] }], true],
  ['none of its own, whatever the document has', [{ key: [] }], [], false],
  ['one that may be empty', undefined, [{ key: [] }, {}], false],
  ['none', undefined, undefined, false],
])('an operation is protected by its security: %s', (_, security, own, isProtected) => {
  const get = { operationId: 'listNotes', responses: {}, ...(own && { security: own }) }
  const [operation] = operationsOf({ paths: { '/notes': { get } }, security })
  expect(operation!.isProtected).toBe(isProtected)
})

/** A contract in a file, with one operation. */
function contractOf(operation: object, title: unknown = '3D Trees') {
  const get = { operationId: 'x', responses: {}, ...operation }
  const content = { 'application/json': { schema: ref('Tree') } }
  const components = { Tree: { properties: { leaf: ref('Tree') } }, Content: { content } }
  const file = join(newFolder(), 'openapi.yaml')
  const document = { info: { title }, paths: { '/trees': { get } }, components }
  writeFileSync(file, JSON.stringify(document))
  return loadContract(pathToFileURL(file))
}

test('the schema of a response may refer to itself', () => {
  const [operation] = contractOf({ responses: { 200: ref('Content') } }).contents().operations
  expect(operation!.responses).toEqual({ 200: ['application/json'] })
})

test('with a request that refers to itself, the service does not start', () => {
  const { contents } = contractOf({ requestBody: ref('Content') })
  expect(contents).toThrow(/^cannot use .*: a request refers to itself: write a schema of/)
})

test('with a parameter that it does not read, the service does not start', () => {
  const { contents } = contractOf({ parameters: [{ name: 'q', in: 'cookie' }] })
  expect(contents).toThrow(/^cannot use .*: get \/trees: the service does not read the parameter q/)
})

test('a path is filled in with values that are encoded; without one, or with another one, there is none', () => {
  const path = (parameters: Record<string, string>) => notesContract.pathOf('readNote', parameters)
  expect(path({ id: 'a/b?ü' })).toBe('/notes/a%2Fb%3F%C3%BC')
  for (const missing of [{}, { id: '' }, { id: undefined }])
    expect(() => path(missing as never)).toThrow('the path of readNote needs the parameter id')
  expect(() => path({ id: '1', ID: '' })).toThrow('the path of readNote has no parameter ID')
})

test('a contract is read once', () => {
  const { contents } = contractOf({})
  expect(contents()).toBe(contents())
})

test.each([
  ['3D Trees', '-3d-trees'], // a name of metrics does not begin with a digit
  ['¡Árboles!', 'rboles'],
])('a service with the title %s has the name %s', (title, name) => {
  expect(contractOf({}, title).contents().name).toBe(name)
})

test.each(['Заметки', '笔记', '…', '', 7, null])(
  'a service with the title “%s” does not start',
  (title) => {
    const { contents } = contractOf({}, title)
    expect(contents).toThrow(
      /: its title names the metrics: it must be a text with a Latin letter or a digit$/,
    )
  },
)
