// The headers of operations, without a server: a write refuses a malformed precondition, a read takes any.
import { expect, test } from '@jest/globals'
import { headerReader } from '../../../src/chassis/contract/header.ts'
import { notesContract } from '../support/notes.ts'

const read = headerReader(notesContract.operationOf('removeNote'))

test.each([
  '*',
  '""',
  'W/"a"',
  '"a","b"',
  '"a,b" ,\t, W/"\x80\xff!~" , ',
  ', \t,"a"',
  '"a" ,'.repeat(3_000),
])('a write accepts the precondition %s', (field) =>
  expect(read({ 'if-match': field, 'if-none-match': field })).toEqual({
    'If-Match': field,
    'If-None-Match': field,
  }),
)

const MALFORMED =
  ',|a|"a|a"|"a" "b"|"a""b"|"a", *|*, "a"|**|w/"a"|W/a|W /"a"|"a b"|"a\x7f"|"a\u0100"|"a"\n|"a";"b"'

test.each(['', ...MALFORMED.split('|')])(
  'a write refuses the precondition "%s", and a read ignores it',
  (field) => {
    const message = 'If-None-Match must be `*` or ETags in double quotes, such as `"abc"`'
    const error = { status: 400, code: 'precondition_malformed', message }
    expect(() => read({ 'if-none-match': field })).toThrow(expect.objectContaining(error))
    expect(headerReader(notesContract.operationOf('readNote'))({ 'if-none-match': field })).toEqual(
      {
        'If-None-Match': field,
      },
    )
  },
)

test.each([' ,', '\t', '"', 'W/', '"a",', '"a" ,', '"" , , ', '"a'])(
  'a malformed precondition full of %s is refused as quickly as it is read',
  (part) => {
    const field = part.repeat(15_000 / part.length)
    for (const text of [`${field}x`, `"a"${field}x`, `"a",${field}"`])
      expect(() => read({ 'if-match': text })).toThrow('must be')
  },
)

test('a header that its schema refuses has the code of the schema, or else header_invalid', () => {
  const readColor = headerReader(notesContract.operationOf('addNote'))
  expect(readColor({ 'x-color': 'red' })).toEqual({ 'X-Color': 'red' })
  const error = { status: 400, code: 'header_invalid', message: expect.stringMatching(/^X-Color /) }
  expect(() => readColor({ 'x-color': '7' })).toThrow(expect.objectContaining(error))
})
