// The headers of operations, without a server.
import { expect, test } from '@jest/globals'
import { headerReader } from '../../../src/chassis/contract/header.ts'
import { notesContract, useNotes } from '../support/notes.ts'

const read = headerReader(notesContract.operationOf('changeNote'))

test.each([
  [
    { 'if-match': '*', 'x-color': 'red', 'x-other': 'x' },
    { 'If-Match': '*', 'X-Color': 'red' },
  ],
  [{}, {}],
])('the headers %j are read as %j', (headers, values) => expect(read(headers)).toEqual(values))

test.each([
  ['if-match', '', 'precondition_malformed', 'If-Match must be `*` or an ETag'],
  ['if-match', 'x', 'precondition_malformed', 'If-Match must be `*` or an ETag'],
  ['x-color', 'blue', 'header_invalid', 'X-Color must be one of red, green'],
  ['x-color', '', 'header_invalid', 'X-Color must be one of red, green'],
])('%s: %s is refused with the code %s', (name, value, code, message) => {
  const error = expect.objectContaining({ status: 400, code, message })
  expect(() => read({ [name]: value })).toThrow(error)
})

const service = useNotes()

test.each([
  [{ tag: {} }, 'body_invalid'],
  [{ tag: 'x' }, 'header_invalid'],
])('the body %j is checked before a malformed header: %s', async (json, code) => {
  const headers = { 'x-color': 'blue' }
  const { json: error } = await service().send('PATCH /notes/1', { json, headers })
  expect(error).toMatchObject({ code })
})
