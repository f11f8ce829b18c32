// Columns that templates name, and what is said without templates.
import { expect, test } from '@jest/globals'
import { read, readAnyhow } from '../../../support/transfers.ts'

test.each([
  ['{First} {Last}', '{Mail}', 'First,Last,Mail', 'Ada,Alm,a@x', 'Ada Alm <a@x>'],
  ['{First} {Last}', '{Mail}', 'First,Last,Mail', ',Alm,a@x', 'Alm <a@x>'],
  ['{a}, {b} {c}', '{Mail}', 'a,b,c,Mail', 'A,,C,a@x', 'A C <a@x>'],
  ['{a}, {b} {c}', '{Mail}', 'a,b,c,Mail', ',,,a@x', ' <a@x>'],
  ['{姓}{名}', '{Mail}', '姓,名,Mail', '张,伟,z@x', '张伟 <z@x>'],
  ['', '{e-MAIL}', 'E-Mail', 'a@x', ' <a@x>'],
  ['{Name}', '{Email (2)}', 'Name,Email,Email', 'A,a@x,b@x', 'A <b@x>'],
  ['{Name} {column 2}', '{Email}', 'Name,,Email', 'Ada,Alm,a@x', 'Ada Alm <a@x>'],
  ['{column 1}', '{Column 3}', 'Name,Email,EMAIL', 'A,a@x,b@x', 'A <b@x>'],
  ['{column 3}', '{Email}', 'Column 3,Email,Name', 'A,a@x,B', 'A <a@x>'],
  ['{Name@Work}', '{Email}', 'name@work,Email', 'Ada,a@x', 'Ada <a@x>'],
  ['{column 1}', '{E-  Mail}', '{Name},"E-\nMail"', 'Ada,a@x', 'Ada <a@x>'],
  ['{name}', '{email}', 'id,name,email', '1,Ada,a@x', 'Ada <a@x>'],
])('--name "%s" --email "%s" with the titles %j', async (name, email, titles, row, user) => {
  const lines = await readAnyhow('csv', `${titles}\n${row}\n`, { name, email })
  expect(lines.map((line) => line.replace(/^\d+ /, ''))).toEqual([user])
})

test('a key is empty where it is absent, but an object with other keys has those of the templates', async () => {
  const objects = ['{"n":"A","e":"a@x"}', '{"e":"b@x"}', '{"e":"c@x","more":1,"N":"C"}']
  const file = [...objects, '{"e":"d@x","more":1}', '{"e":"e@x","n":"E"}'].join('\n')
  const lines = await readAnyhow('ndjson', file, { name: '{n}', email: '{e}' })
  const refused = '4: it has no column {n}'
  expect(lines).toEqual(['1 A <a@x>', '2  <b@x>', '3 C <c@x>', refused, '5 E <e@x>'])
  const byPlace = await readAnyhow('ndjson', file, { name: '{column 1}', email: '{e}' })
  expect([byPlace[2], byPlace[4]]).toEqual(['3: it has no column {column 1}', '5 E <e@x>'])
})

const TITLES_ONLY = 'write titles in braces, with only blanks and commas between them'
test.each(['Bob', ' ', 'Dr. {a}', '{a} ({b}) {c}', '{a} ({b})', '{a}@x', '{a} {b} ', '{a}.{b}'])(
  'the template %j has other text than blanks and commas between titles, and is refused',
  async (name) => {
    const reading = read('csv', 'a,b,c\n', { name, email: '{a}' })
    await expect(reading).rejects.toThrow(`--name ${name}: ${TITLES_ONLY}. Put`)
  },
)

test.each([
  ['{Nmae}', 'it has no column {nmae}:\n  {Email} '],
  ['{Email}', '{email} is the title of {column 1} and {column 2}, letter case aside:\n'],
  ['{Email (2)}', '{email (2)} is the title of {column 3} and {column 4}, letter case aside:\n'],
  ['{column 5}', 'it has no column {column 5}:\n'],
])('the template %s is refused, and the columns are listed', async (name, message) => {
  const file = 'Email,email,Email,Email (2)\na@x,b@x,c@x,d@x\n'
  await expect(read('csv', file, { name, email: '' })).rejects.toThrow(message)
})

test.each(['{column 2}', '{A@x}', '{Ada} {column 2}', '{column 3}', '{A@x (2)}'])(
  'a file without titles is refused, so that its first user is not lost: %s',
  async (email) => {
    const reading = read('csv', 'Ada,a@x,a@x\nBob,b@x,b@x\n', { name: '{column 1}', email })
    await expect(reading).rejects.toThrow('its first line has an email, and must have titles:\n')
  },
)

test('a file without titles is refused also if another separator would leave one column', async () => {
  const reading = read('csv', 'a@x,Ada Lovelace\n', { name: '', email: '{column 1}' })
  await expect(reading).rejects.toThrow('its first line has an email, and must have titles:\n')
})

test('other columns are listed beside the first record, if there is one', async () => {
  const how =
    "Name the columns: --name '{First Name} {Last Name}' --email '{E-mail Address}'\nA CSV file begins with its titles: delete lines before them, or add a first line such as name,email."
  const columns = [
    '{Imię}                 Ada',
    '{column 2}             x y',
    '{E-Mail}               ',
  ]
  const message = ['its columns are not name, email and perhaps id:', ...columns, how].join('\n  ')
  const reading = read('csv', 'Imię;;E-Mail\nAda;"x\ny";\nBob;;b@x\n')
  await expect(reading).rejects.toThrow(message.replace('  Name', 'Name'))
  await expect(read('csv', 'Imię,E-Mail\n')).rejects.toThrow(`  ${columns[2]}\n${how}`)
})
