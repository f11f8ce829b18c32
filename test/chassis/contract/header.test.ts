// The headers of operations, without a server: a write refuses a malformed precondition, a read takes any.
import { expect, test } from '@jest/globals'
import { contract } from '../../../src/contract.ts'
import { headerReader } from '../../../src/chassis/contract/header.ts'

const read = headerReader(contract.operationOf('deleteUser'))

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
    expect(headerReader(contract.operationOf('readUser'))({ 'if-none-match': field })).toEqual({
      'If-None-Match': field,
    })
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
