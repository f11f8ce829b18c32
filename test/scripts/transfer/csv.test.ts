// CSV files, as spreadsheets and other programs write them.
import { describe, expect, test } from '@jest/globals'
import type { Columns } from '../../../scripts/transfer/csv-titles.ts'
import { readCsv } from '../../../scripts/transfer/csv.ts'
import type { Line } from '../../../scripts/transfer/lines.ts'
import { read, readAnyhow } from '../../support/transfers.ts'

const user = (line: number, name: string, email: string, id = ''): Line => ({
  line,
  fields: { id, name, email },
})
const refused = (line: number, reason: string): Line => ({ line, reason })

const BROKEN = 'its quotes are broken'
const LONG = 'it is longer than 8,500,000 characters'

test.each<[string, string, Line[]]>([
  ['a line without its end', 'name,email\nAda,a@x', [user(2, 'Ada', 'a@x')]],
  ['CRLF', 'name,email\r\nAda,a@x\r\nB,b@x\r\n', [user(2, 'Ada', 'a@x'), user(3, 'B', 'b@x')]],
  [
    'lines that end with CR',
    'name,email\rAda,a@x\r"Bob\rB",b@x\rCy,c@x',
    [user(2, 'Ada', 'a@x'), user(3, 'Bob\rB', 'b@x'), user(5, 'Cy', 'c@x')],
  ],
  ['lines that end with CR CR LF', 'email,name\r\r\na@x,Ada\r\r\n', [user(3, 'Ada', 'a@x')]],
  [
    'first and last names',
    'Email_Address,Last-Name,FIRST NAME\na@x,L,Ada\nb@x,,Bob\nc@x,,\n',
    [user(2, 'Ada L', 'a@x'), user(3, 'Bob', 'b@x'), user(4, '', 'c@x')],
  ],
  ['only first names', 'email,Given name\na@x,Ada\n', [user(2, 'Ada', 'a@x')]],
  [
    'whole names beside their parts',
    'email,first name,last name,name\na@x,Ada,L,Lady\n',
    [user(2, 'Lady', 'a@x')],
  ],
  ['other columns', 'Phone,E-Mail,Full Name\n1,a@x,Ada\n', [user(2, 'Ada', 'a@x')]],
  [
    "the columns of Google's contacts",
    'First Name,Middle Name,Last Name,E-mail 1 - Value\nAda,K,L,a@x\n',
    [user(2, 'Ada K L', 'a@x')],
  ],
  ['an id', 'id,name,email\n7,Ada,a@x\n', [user(2, 'Ada', 'a@x', '7')]],
  ['semicolons', '\r\n \nname;email\nAda, Lady;a@x\n', [user(4, 'Ada, Lady', 'a@x')]],
  ['tabs', 'name\temail\nAda\ta@x\n', [user(2, 'Ada', 'a@x')]],
  ['bars', 'name|email\nAda|a@x\n', [user(2, 'Ada', 'a@x')]],
  ['the first line of Excel', 'sep=;\r\nname;email\r\nAda;a@x\r\n', [user(3, 'Ada', 'a@x')]],
  ['a byte order mark', '\uFEFFname,email\nAda,a@x\n', [user(2, 'Ada', 'a@x')]],
  ['quotes', '"name","email"\n"Ada ""the"" L","a,b@x"\n', [user(2, 'Ada "the" L', 'a,b@x')]],
  ['a quote within a field', 'name,email\nAda "the" L,a@x\n', [user(2, 'Ada "the" L', 'a@x')]],
  [
    'a line break within quotes',
    'name,email\n"Ada\r\nL",a@x\nBob,b@x\n',
    [user(2, 'Ada\r\nL', 'a@x'), user(4, 'Bob', 'b@x')],
  ],
  ['a line break in a title', '1;"a\n,b";name;email\n2;1;Ada;a@x\n', [user(3, 'Ada', 'a@x')]],
  ['empty lines', '\n\nname,email\n\nAda,a@x\n,\n\n', [user(5, 'Ada', 'a@x')]],
  ['empty fields', 'name,email\nAda,\n,b@x\n', [user(2, 'Ada', ''), user(3, '', 'b@x')]],
  ['empty fields after the last', 'name,email\nAda,a@x,,\n', [user(2, 'Ada', 'a@x')]],
  ['no fields after those that are read', 'name,email,fax\nAda,a@x\n', [user(2, 'Ada', 'a@x')]],
  [
    'spaces, which are kept only in quotes',
    'email,name\n a@x , Ada\n" b@x ",Bob\n',
    [user(2, 'Ada', 'a@x'), user(3, 'Bob', ' b@x ')],
  ],
  [
    'spaces around quotes',
    '"name", "email"\n"Ada, L" ,  "a@x" \nBob, "b@x"\n',
    [user(2, 'Ada, L', 'a@x'), user(3, 'Bob', 'b@x')],
  ],
])('a file may have %s', async (_, file, lines) => {
  expect(await readAnyhow(readCsv, file)).toEqual(lines)
})

test.each([
  ['too few fields', 'Bob', 'it has 1 fields, but there are 2 titles'],
  ['too many fields', 'Bob,b@x,1', 'it has 3 fields, but there are 2 titles'],
  ['text after a quote', '"Bob" B,b@x', BROKEN],
  ['text after a quote that follows a space', ' "Bob" B,b@x', BROKEN],
  ['a quote that is not closed', '"Bob,b@x', BROKEN],
])('a line with %s is refused, and no other', async (_, line, reason) => {
  const file = `name,email\nAda,a@x\n${line}\n"Zoë, Z",z@x\nDan,d@x\n`
  expect(await readAnyhow(readCsv, file)).toEqual([
    user(2, 'Ada', 'a@x'),
    refused(3, reason),
    user(4, 'Zoë, Z', 'z@x'),
    user(5, 'Dan', 'd@x'),
  ])
})

test.each(['\n', '\r\n', '\r'])(
  'a quote that is never closed costs one line, if lines end with %j',
  async (end) => {
    const lines = ['name,email', '"Ada,a@x', 'Bob,b@x', '"Cy",c@x', '"', 'Dan,d@x', '']
    expect(await readAnyhow(readCsv, lines.join(end))).toEqual([
      refused(2, BROKEN),
      user(3, 'Bob', 'b@x'),
      user(4, 'Cy', 'c@x'),
      refused(5, BROKEN),
      user(6, 'Dan', 'd@x'),
    ])
  },
)

test('a record after a broken one may have a line break', async () => {
  const file = 'name,email\n"Ada,a@x\n"Bob\nB",b@x\n'
  expect(await readAnyhow(readCsv, file)).toEqual([refused(2, BROKEN), user(3, 'Bob\nB', 'b@x')])
})

test('broken quotes are read in linear time', async () => {
  const began = process.cpuUsage().user
  for (const line of ['x","\n', '"\n', '\n"']) {
    await read(readCsv, `name,email\n"${line.repeat(500_000 / line.length)}`, 65_536)
  }
  expect(process.cpuUsage().user - began).toBeLessThan(4_000_000) // microseconds
})

test.each([
  ['\n', ''],
  ['\r\n', ''],
  ['\r', ''],
  ['\n', '"'],
])('a line that is too long is refused, and the next is read: %j, %j', async (end, quote) => {
  const file = Buffer.from(`name,email${end}${quote}${'x,'.repeat(5_000_000)}${end}A,a@x${end}`)
  for (const size of [65_536, file.length - 5]) {
    expect(await read(readCsv, file, size)).toEqual([refused(2, LONG), user(3, 'A', 'a@x')])
  }
})

describe('a column', () => {
  const reader = (columns: Columns) => (text: AsyncIterable<string>) => readCsv(text, columns)

  test('may be called anything if that is said', async () => {
    expect(
      await read(reader({ name: 'Nom', email: 'Courriel' }), 'Courriel;Nom\na@x;Ada\n'),
    ).toEqual([user(2, 'Ada', 'a@x')])
    expect(
      await read(reader({ name: 'FIRST-name' }), 'Last name,first name,email\nL,Ada,a@x\n'),
    ).toEqual([user(2, 'Ada', 'a@x')])
  })

  test('may be absent if that is said', async () => {
    expect(await read(reader({ name: '' }), ',email\nx,a@x\n')).toEqual([user(2, '', 'a@x')])
  })
})

test.each([
  ['', 'the file is empty'],
  [
    'Nom,Email\nAda,a@x\n',
    'no column is titled `name` (--name-column names one); the titles are: Nom, Email',
  ],
  ['name,phone\nAda,1\n', 'no column is titled `email` (--email-column names one)'],
  ['"name,email\nAda,1\n', 'the quotes of the titles are broken'],
])('the import of %j fails: %s', async (file, message) => {
  await expect(read(readCsv, file)).rejects.toThrow(message)
})
