// CSV files, as spreadsheets and other programs write them.
import { expect, test } from '@jest/globals'
import { read, readAnyhow } from '../../../support/transfers.ts'

test.each([
  ['a line without its end', 'name,email\nAda,a@x', '2 Ada <a@x>'],
  ['CRLF', 'name,email\r\nAda,a@x\r\nB,"b@x"\r\n', '2 Ada <a@x>', '3 B <b@x>'],
  ['semicolons', 'name;email\nAda, Lady;a@x\n', '2 Ada, Lady <a@x>'],
  ['tabs', 'name\temail\n"A\tB"\t"a@x"\n\tb@x\n', '2 A\tB <a@x>', '3  <b@x>'],
  ['quotes', '"name","email"\n"Ada ""the"" L, Lady",a@x\n', '2 Ada "the" L, Lady <a@x>'],
  ['empty lines', '\n\nname,email\n\nAda,a@x\n \n', '5 Ada <a@x>'],
  ['blanks', '"email", name\n a@x , Ada\nb@x," Bob "\n', '2 Ada <a@x>', '3  Bob  <b@x>'],
  ['titles in capitals, in any order', 'Email,NAME,Id\na@x,Ada,\n', '2 Ada <a@x>'],
])('a file may have %s', async (_, file, ...lines) => {
  expect(await readAnyhow('csv', file)).toEqual(lines)
})

const QUOTE = 'it has a quote within a field: write a field with quotes as "Bob ""Bo"" Berg"'
const HIDDEN = 'a field seems to hold other rows, because a quote is closed too late'

test.each([
  ['too few fields', 'Bob', '3: it has 1 fields, and there are 2 titles'],
  ['quotes within a field', 'Bob "Bo" B,b@x', `3: ${QUOTE}`],
  ['a quote that is closed later', 'B 5",b@x\nC 6",c@x', `3: ${QUOTE}, up to line 4`],
  ['a line break in its name', '"Bob\nB",b@x', '3: its name has a line break'],
  ['rows in a field', '"Bob,b@x\nCy,c@x\nDan",d@x', `3: ${HIDDEN}, up to line 5`],
])('a row with %s is refused, and no other', async (_, row, refused) => {
  const lines = await readAnyhow('csv', `name,email\nAda,a@x\n${row}\n"Zoë, Z",z@x\n`)
  expect(lines).toEqual(['2 Ada <a@x>', refused, `${3 + row.split('\n').length} Zoë, Z <z@x>`])
})

test('a field that is not used may have line breaks, but no rows, and must end', async () => {
  const file = 'name,email,note\nAda,a@x,"a, c\nb"\nBob,b@x,"n\nCy,c@x,n\nDan,d@x,n"\nEve,e@x,"\n'
  const lines = await readAnyhow('csv', file, { name: '{name}', email: '{email}' })
  const open = '7: a quote is not closed, up to the end of the file'
  expect(lines).toEqual(['2 Ada <a@x>', `4: ${HIDDEN}, up to line 6`, open])
})

test('no field hides rows, whatever ends a line', async () => {
  const file = 'name,email,note\nA,a@x,"n\rB,b@x,n\rC,c@x,"\nD,d@x,\n'
  const lines = await readAnyhow('csv', file, { name: '{name}', email: '{email}' })
  expect(lines).toEqual([`2: ${HIDDEN}`, '3 D <d@x>'])
})

test('a quote that is closed too late makes no row of export-users', async () => {
  const file = `id,name,email\n${'a'.repeat(24)},"B,b@x\nC",c@x\n`
  expect(await readAnyhow('csv', file)).toEqual([`2: ${HIDDEN}, up to line 3`])
})

test.each([
  ['', 'the file is empty'],
  ['"name,email\nAda,1\n', 'a quote is not closed'],
  [`${'x,'.repeat(20_000)}\n`, 'it has more columns than a spreadsheet'],
  ['_id,id,name,email\n', '{id} is the title of {column 1} and {column 2}, letter case aside'],
])('the titles of %j are refused', async (file, message) => {
  await expect(read('csv', file)).rejects.toThrow(message)
})

test.each([
  ['x', 'is longer than 1,100,000 bytes'],
  ['""', 'is longer than 1,100,000 bytes'],
  ['x","\n', 'has a quote that is not closed'],
])('an endless row of %j ends the import', async (part, problem) => {
  const file = `name,email\nAda,a@x\n"${part.repeat(2_000_000 / part.length)}`
  const message = `line 3 ${problem}: the import ends here`
  await expect(read('csv', file, { size: 65_536 })).rejects.toThrow(message)
})
