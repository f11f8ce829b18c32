// The rules that every row must obey.
import { expect, test } from '@jest/globals'
import { readAnyhow } from '../../../support/transfers.ts'

const EMAILS = ['a@x', "o'neil+tag@mail.example.com", 'émile@bücher.example', 'a_b@x_y']
test.each(EMAILS)('an email may be %s', async (email) => {
  expect(await readAnyhow('csv', `name,email\nA,${email}\n`)).toEqual([`2 A <${email}>`])
})

const LISTS = ['a@x;b@x', 'a@x b@x', 'a@x ::: b@x', '"a@x, b@x"', 'a@x@y', 'a；b@x']
const MARKUP = ['<a@x>', 'Ada <a@x>', 'mailto:a@x', "'a@x'", '“a@x”', 'a@x (home)']
const INVISIBLE = ['a@\u200Bx', 'a\u00A0@x', 'a@x\u00AD', 'a\u3164@x', 'a\u0000@x', '"a@x "']
const NO_EMAIL = ['NULL', '\\N', '#N/A', '-', 'ada', '@x', 'a@']
test.each([...LISTS, ...MARKUP, ...INVISIBLE, ...NO_EMAIL])('no email is %j', async (text) => {
  const refused = ['2: its email is not one plain address']
  expect(await readAnyhow('csv', `name,email\nA,${text}\n`)).toEqual(refused)
})

const ID = '665f1c2e8b3f4a0012d4c001'
const INVALID = '2: its id is not 24 lower-case hexadecimal digits: --new-ids ignores the ids'
const NOT_UNIQUE = '2: it has neither an email nor an id: the next import would store it again'

test.each([
  ['1,A,a@x', INVALID, '2 A <a@x>'],
  [`${ID.toUpperCase()},A,a@x`, INVALID, '2 A <a@x>'],
  [',A,', NOT_UNIQUE, NOT_UNIQUE],
  [`${ID},A,`, `2 A <> ${ID}`, NOT_UNIQUE],
])('of the row %s, the import makes %j, and with --new-ids %j', async (row, user, newUser) => {
  const file = `id,name,email\n${row}\n`
  expect(await readAnyhow('csv', file)).toEqual([user])
  expect(await readAnyhow('csv', file, { newIds: true })).toEqual([newUser])
})

test.each(['7', '{"$oid":"7"}', '{"a":1}'])(
  '--new-ids ignores an id of any type: %s',
  async (id) => {
    const row = `{"id":${id},"name":"A","email":"a@x"}\n`
    expect(await readAnyhow('ndjson', row, { newIds: true })).toEqual(['1 A <a@x>'])
  },
)
