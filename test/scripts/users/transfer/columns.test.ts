// Columns that templates name, and what is said without templates.
import { expect, test } from '@jest/globals'
import { read, readAnyhow } from '../../../support/transfers.ts'

test.each([
  ['{First} {Last}', '{Mail}', 'First,Last,Mail', 'Ada,Alm,a@x', 'Ada Alm <a@x>'],
  ['{a} {b} {c}', '{Mail}', 'a,b,c,Mail', 'A,,C,a@x', 'A C <a@x>'],
  ['Dr. {a} (x)', '{Login}@x', 'a,Login', ',ada', ' <ada@x>'],
  ['', '{e-MAIL}', 'E-Mail', 'a@x', ' <a@x>'],
  ['{Name}', '{Email (2)}', 'Name,Email,Email', 'A,a@x,b@x', 'A <b@x>'],
  ['{Name} {column 2}', '{Email}', 'Name,,Email', 'Ada,Alm,a@x', 'Ada Alm <a@x>'],
  ['{column 1}', '{E-  Mail}', '{Name},"E-\nMail"', 'Ada,a@x', 'Ada <a@x>'],
  ['{First\nName}', '{Email}', '"First\nName",Email', 'Ada,a@x', 'Ada <a@x>'],
  ['{name}', '{email}', 'id,name,email', '1,Ada,a@x', 'Ada <a@x>'],
])('--name "%s" --email "%s" with the titles %j', async (name, email, titles, row, user) => {
  const lines = await readAnyhow('csv', `${titles}\n${row}\n`, { name, email })
  expect(lines.map((line) => line.replace(/^\d+ /, ''))).toEqual([user])
})

test('each object must have the keys of the templates', async () => {
  const file = '{"n":"A","e":"a@x"}\n{"e":"b@x"}\n{"e":"c@x","more":1,"N":"C"}\n'
  const lines = await readAnyhow('ndjson', file, { name: '{n}', email: '{e}' })
  expect(lines).toEqual(['1 A <a@x>', '2: it has no column {n}', '3 C <c@x>'])
})

test.each([
  ['{Nmae}', 'it has no column {nmae}:\n  {Email} '],
  ['{Email (2)}', '{email (2)} is the title of 2 columns, letter case aside:\n'],
  ['Email', '--name Email: write titles in braces'],
])('the template %s is refused, and the columns are listed', async (name, message) => {
  const file = 'Email,email,Email,Email (2)\na@x,b@x,c@x,d@x\n'
  await expect(read('csv', file, { name, email: '' })).rejects.toThrow(message)
})

test('other columns are listed beside the first record, if there is one', async () => {
  const how =
    "Say which are meant: --name '{First Name} {Last Name}' --email '{E-mail Address}'\nA CSV file begins with its titles: delete lines before them, or add a first line such as name,email."
  const columns = [
    '{Imię}                 Ada',
    '{column 2}             x y',
    '{E-Mail}               ',
  ]
  const message = ['its columns are not name, email and perhaps id:', ...columns, how].join('\n  ')
  const reading = read('csv', 'Imię;;E-Mail\nAda;"x\ny";\nBob;;b@x\n')
  await expect(reading).rejects.toThrow(message.replace('  Say', 'Say'))
  await expect(read('csv', 'Imię,E-Mail\n')).rejects.toThrow(`  ${columns[2]}\n${how}`)
})
