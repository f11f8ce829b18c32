// ETag, If-None-Match and If-Match: which field names which body.
import { expect, test } from '@jest/globals'
import {
  etagOf,
  ifMatch,
  ifNoneMatch,
  preconditionFailed,
} from '../../src/chassis/preconditions.ts'

const NOTE = { id: '1', text: 'ab', tag: 'x' }
const ETAG = etagOf(NOTE)

test('an ETag differs for each value', () => {
  const others = [
    { ...NOTE, id: '2' },
    { ...NOTE, text: 'Ab' },
    { ...NOTE, text: 'a', tag: 'bx' },
  ]
  expect(new Set([NOTE, ...others].map(etagOf)).size).toBe(1 + others.length)
  expect(etagOf({ ...NOTE })).toBe(ETAG)
})

test.each([
  [ETAG, true, true, false],
  ['*', true, true, false],
  [`, ,\t"a,b" , ${ETAG} , `, true, true, false],
  [`W/${ETAG}`, false, true, true],
  ['"x", W/"y"', false, false, true],
  ['"x", "W/"', false, false, false],
  [ETAG.slice(1, -1), false, false, false],
  [`w/${ETAG}`, false, false, false],
  [`${ETAG} x`, false, false, false],
  [`"a b", ${ETAG}`, false, false, false],
  [`*, ${ETAG}`, false, false, false],
])(
  'the field %s names the ETag strongly: %s, weakly: %s; has a weak one: %s',
  (field, strongly, weakly, hasWeak) => {
    const found = [
      ifMatch(field, ETAG),
      ifNoneMatch(field, ETAG),
      preconditionFailed(field).code === 'etag_weak',
    ]
    expect(found).toEqual([strongly, weakly, hasWeak])
  },
)

test.each([' ,', '"', 'W/', `${ETAG},`])('a field full of %s is read quickly', (part) =>
  expect(ifMatch(part.repeat(100_000 / part.length), '"y"')).toBe(false),
)
