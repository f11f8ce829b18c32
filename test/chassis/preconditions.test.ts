// ETag, If-None-Match and If-Match: what names which ETag. (What then happens: test/preconditions.test.ts.)
import { expect, test } from '@jest/globals'
import { etagOf, ifMatch, ifNoneMatch, preconditionFailed } from '../../src/chassis/index.ts'

const NOTE = { text: 'Milk', tag: 'x' }
const ETAG = etagOf(NOTE)

test('an ETag differs for each field and value', () => {
  const others = [
    { ...NOTE, text: 'milk' },
    { ...NOTE, text: 'Mil', tag: 'kx' },
    { text: NOTE.text },
    { ...NOTE, id: '' },
  ]
  expect(new Set([NOTE, ...others].map(etagOf)).size).toBe(1 + others.length)
  expect(etagOf({ ...NOTE })).toBe(ETAG)
})

test.each([
  [ETAG, true, true, false],
  ['*', true, true, false],
  [`, ,\t"a,b" , ${ETAG} , `, true, true, false],
  [`"\xfc", ${ETAG}`, true, true, false],
  [`W/${ETAG}`, false, true, true],
  ['"x", W/"y"', false, false, true],
  ['"x", "W/"', false, false, false],
  [ETAG.slice(1, -1), false, false, false],
  [`w/${ETAG}`, false, false, false],
  [`${ETAG} x`, false, false, false],
  [`${ETAG}, x`, false, false, false],
  [`"a b", ${ETAG}`, false, false, false],
  [`*, ${ETAG}`, false, false, false],
])(
  'the field %s names the ETag strongly: %s, weakly: %s; has a weak one: %s',
  (field, ...expected) => {
    const { code } = preconditionFailed(field)
    const found = [ifMatch(field, ETAG), ifNoneMatch(field, ETAG), code === 'etag_weak']
    expect(found).toEqual(expected)
  },
)

test.each([' ,', '"', 'W/', `${ETAG},`])('a field full of %s is read quickly', (part) =>
  expect(ifMatch(part.repeat(100_000 / part.length), '"y"')).toBe(false),
)
