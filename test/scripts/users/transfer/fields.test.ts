// The keys of objects, which are known as the titles of CSV are.
import { expect, test } from '@jest/globals'
import { formatOf } from '../../../../scripts/users/transfer/formats.ts'
import type { Columns } from '../../../../scripts/users/transfer/titles.ts'
import { read } from '../../../support/transfers.ts'

/** Users as text, such as `Ada <a@x>`, or why they are refused; and the reports of keys. */
async function readObjects(format: string, objects: unknown[], chosen: Columns = {}) {
  const reported: string[] = []
  const lines = objects.map((object) => JSON.stringify(object))
  const file = format === 'json' ? `[${lines.join(',\n')}]` : lines.join('\n')
  const { read: readUsers } = formatOf('-', format)
  const found = await read((text) => readUsers(text, chosen, (keys) => reported.push(keys)), file)
  const users = found.map((line) => {
    if ('reason' in line) return line.reason
    return `${String(line.fields['name'])} <${String(line.fields['email'])}>`
  })
  return { users, reported }
}

test.each([
  [{ Name: 'Ada Alm', MAIL: 'a@x' }],
  [{ first_name: 'Ada', last_name: 'Alm', 'e-mail': 'a@x' }],
  [{ displayName: 'Ada Alm', user_email: 'a@x', uid: 7 }],
  [{ emails: ['b@x'], email: 'a@x', name: 'Ada Alm' }],
  [{ name: false, full_name: 'Ada Alm', email: 'a@x' }],
  [{ name: '', given_name: 'Ada', family_name: 'Alm', email: 'a@x' }],
  [{ name: null, Vorname: 'Ada', Nachname: 'Alm', 'E-Mail-Adresse': 'a@x' }],
  [{ _id: { $oid: 'x' }, name: 'Ada Alm', email: 'a@x', age: { $numberLong: '7' } }],
])('keys are known: %j', async (object) => {
  for (const format of ['json', 'ndjson']) {
    const { users } = await readObjects(format, [object])
    expect(users).toEqual(['Ada Alm <a@x>'])
  }
})

test('the keys that are used are reported, and again at the end if they differ', async () => {
  const objects = [
    { name: 'Ada', email: 'a@x', age: 1 },
    { full_name: 'Bob', mail: 'b@x', city: '1' },
    { name: 'Cy', email: 'c@x', age: 2 },
  ]
  const { users, reported } = await readObjects('ndjson', objects)
  expect(users).toEqual(['Ada <a@x>', 'Bob <b@x>', 'Cy <c@x>'])
  expect(reported).toEqual([
    'name: name; email: email; not used: age',
    'name: name, full_name; email: email, mail; not used: age, city',
  ])
})

const NO_NAME =
  "no column is recognized as the name: give its title with --name-column, or '' if there is none; the titles are: "

test.each([
  [{ email: 'a@x', Imię: 'Ada' }, `${NO_NAME}email, Imię`],
  [{ email: 'a@x', profile: { name: 'Ada' } }, `${NO_NAME}email, profile`],
  [{ name: 'Ada', contact: 'a@x' }, /^no column is recognized as the email: give its title/],
  [{ name: 'Ada', email: '', other: ['a@x'] }, /^its email has no @, but `other` has: choose/],
  [{ model: 'user', fields: { name: 'Ada' } }, /^no column is recognized: .*: model, fields$/],
])('an object whose name or email is elsewhere is refused: %j', async (object, reason) => {
  const { users } = await readObjects('json', [object, { name: 'Bob', email: 'b@x' }])
  expect(users).toEqual([expect.stringMatching(reason), 'Bob <b@x>'])
})

test.each<[Columns, object, string]>([
  [{ name: 'Imię' }, { Imię: 'Ada', email: 'a@x' }, 'Ada <a@x>'],
  [{ name: ['a', 'b'], email: 'c' }, { c: 'a@x', b: 'Alm', a: 'Ada' }, 'Ada Alm <a@x>'],
  [{ name: '', email: 'UPN' }, { upn: 'a@x', role: 'admin' }, ' <a@x>'],
])('keys can be chosen: %j', async (chosen, object, user) => {
  const { users } = await readObjects('json', [object, { other: 1 }], chosen)
  expect(users).toEqual([user, ' <>'])
})

test('an object without a chosen key is refused if it has another text', async () => {
  const objects = [{ name: 'Ada', age: 1 }, { age: 2 }]
  const { users } = await readObjects('json', objects, { name: 'nmae', email: '' })
  expect(users).toEqual(['no column is titled `nmae`; the titles are: name, age', ' <>'])
})

const OID = '665f1c2e8b3f4a0012d4c001'

test.each<[string, object, RegExp | string]>([
  [
    'an id of another program',
    { _id: { $oid: OID }, name: 'Ada', email: '', mail: 'a@x' },
    /its email has no @/,
  ],
  [
    'an email with a name',
    { _id: { $oid: OID }, name: 'Ada', email: 'Ada <a@x>' },
    /more than an address/,
  ],
  ['typographic quotes', { name: 'Ada', email: '“a@x”' }, /more than an address/],
  [
    'titles again, in parts',
    { 'First Name': 'First Name', 'Last Name': 'Last Name', Email: 'Email' },
    /repeats the titles/,
  ],
  [
    'a part of a name that is false',
    { first_name: 'Ada', last_name: false, email: 'a@x' },
    'Ada <a@x>',
  ],
  [
    'a part that the name has',
    { name: 'Ada Alm', family_name: 'Alm', email: 'a@x' },
    'Ada Alm <a@x>',
  ],
  [
    'a company beside a name',
    { 'Name (Company)': 'Acme', 'First Name': 'Ada', 'Last Name': 'Alm', Email: 'a@x' },
    'Ada Alm <a@x>',
  ],
  [
    'titles that are alike',
    { 'Name (First)': 'Ada', 'Name (Last)': 'Alm', Email: 'a@x' },
    /are alike: choose with --name-column/,
  ],
])('%s is read as it is meant, or refused', async (_, object, expected) => {
  const { users } = await readObjects('json', [object])
  expect(users).toEqual([typeof expected === 'string' ? expected : expect.stringMatching(expected)])
})
